"""What a request is answered, whatever server has received it: no web framework is imported here."""
