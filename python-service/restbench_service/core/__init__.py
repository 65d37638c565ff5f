"""What a request is answered, whatever has received it: no web framework is imported."""
