"""Headers that every response has: nothing here is to be cached, framed, guessed or run.

The answers are data, so a browser that shows one may load and run nothing (Content-Security-Policy
level 3, Fetch's nosniff). Only the page of the contract loads its own files. The server adds them,
to what the app answers and to what it answers itself.
"""

CLOSED = {
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
}
PAGE = {
    **CLOSED,
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; connect-src 'self'; "
    "style-src 'self' 'sha256-RL3ie0nH+Lzz2YNqQN83mnU0J1ot4QL7b99vMdIX99w='; "
    "img-src 'self' data:; form-action 'none'; base-uri 'none'; frame-ancestors 'none'",
}
"""For Swagger UI: its icons are data: images in its style sheet; the hash is its logo's."""
