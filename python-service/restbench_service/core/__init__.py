"""Admission, routes and replies of requests for any web framework; none is imported here."""
