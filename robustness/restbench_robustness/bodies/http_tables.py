"""What may stand around a body: right, wrong, and forbidden by HTTP itself."""

PATHS = (
    "/", "/matrix", "/matrix/", "/matrix/{strategy}/", "/Matrix/{strategy}", "/matrix/SERIAL",
    "/matrix/{strategy}/x", "/x/{strategy}", "/matrix/%7Bstrategy%7D", "/matrix/magic",
    "/matrix/{strategy}%20", "/matrix/{strategy};x=1", "/matrix/" + "x" * 300, "/health",
    "/strategies", "/metrics", "/openapi.json", "/health/", "/favicon.ico",
    "/matrix/{strategy}.json", "/actuator", "/matrix/%C3%A9", "/matrix/serial%0A",
    "/matrix,{strategy}",
)  # fmt: skip
METHODS = ("GET", "PUT", "DELETE", "PATCH", "POST", "FOO", "M-SEARCH", "PROPFIND")
QUERIES = (
    "", "kernel=loops", "kernel=native", "kernel=", "kernel", "kernel=Loops",
    "kernel=loops&kernel=native", "kernel=loops&kernel=loops", "x=1&kernel=native",
    "kernel=native&x=%zz", "kernel=%6coops", "k%65rnel=loops", "kernel=loops%20", "kernel=+loops",
    "kernel=loops+", "kernel=%zz", "kernel=loops%", "KERNEL=x", "&&kernel=loops&",
    "kernel=loops;kernel=native", "=loops", "kernel==loops", "x=kernel=magic", "kernel=%6E%61tive",
    "kernel=lo%00ops", "kernel=%ff", "%6bernel=native&kernel", "kernel%3Dloops", "?kernel=magic",
    "kernel%5B%5D=magic", "kernel=" + "x" * 200, "kernel=loops?", "kernel=loops/", "%zz=1",
    "kernel%zz=magic",
)  # fmt: skip
CONTENT_TYPES = (
    "application/json", "APPLICATION/JSON", "application/json; charset=utf-8",
    "application/json;charset=latin-1", "application/json ; x", "application/json;", "text/plain",
    "text/json", "application/problem+json", "application/jsonx",
    "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "json", "*/*",
    "application/*", "", "application/json, text/plain", "application / json", '"application/json"',
    "application/json;;", ";application/json", "application/json; charset=nonsense",
    "application/json; charset=\"", "application", "application/",
)  # fmt: skip
OTHER_HEADERS = (
    ("Accept", "text/html"), ("Accept", "image/*;q=x"), ("Content-Encoding", "gzip"),
    ("Accept-Encoding", "br"), ("Expect", "100-continue"), ("Connection", "close"),
    ("Connection", "keep-alive, x"), ("X-Http-Method-Override", "GET"), ("X-Forwarded-For", "x"),
    ("X-Forwarded-Host", "a b"), ("X-Forwarded-Prefix", "/x"), ("Forwarded", "for=\"_x"),
    ("Cookie", "a=\"b; c"), ("Range", "bytes=0-1"), ("If-None-Match", "*"),
    ("If-Modified-Since", "x"), ("Origin", "null"), ("Accept-Language", "\xff"), ("X-Empty", ""),
    ("X-Long", "x" * 4000), ("Upgrade", "h2c"), ("Content-Language", "x y"),
    ("Access-Control-Request-Method", "POST"), ("Accept-Charset", "utf-7"), ("Date", "x"),
    ("Authorization", "Basic !"),
)  # fmt: skip
FORBIDDEN: tuple[tuple[tuple[str, str], ...], ...] = (
    (("Content-Length", "5, 6"),), (("Content-Length", "-1"),), (("Content-Length", "x"),),
    (("Content-Length", "1e2"),), (("Content-Length", "99999999999999999999"),),
    (("Content-Length", "+5"),), (("Content-Length", ""),), (("Transfer-Encoding", "gzip, x"),),
    (("Transfer-Encoding", "chunked, gzip"),), (("Transfer-Encoding", "xchunked"),),
    (("Transfer-Encoding", "chunked"),), (("Host", "a b"),), (("Bad Name", "x"),), (("", "x"),),
    (("X-Nul", "a\x00b"),),
)  # fmt: skip
BAD_CHUNKS = (
    b"zz\r\n{}\r\n0\r\n\r\n", b"-1\r\n{}\r\n0\r\n\r\n", b"2\r\n{}x\r\n0\r\n\r\n",
    b"0x2\r\n{}\r\n0\r\n\r\n", b"ffffffffffffffffff\r\n{}\r\n", b"2 \n{}\r\n0\r\n\r\n\x00",
    b"\r\n\r\n", b"2;\x00\r\n{}\r\n0\r\n\r\n",
)  # fmt: skip

BAD_PATHS = ("", "x", "/a b", "/\x00", "/\xff", "//", "http://", "*", "/%zz", "/%")
BAD_HOSTS = ("a..b", "..", "x..:80")
BAD_METHODS = ("post", "", "G T", "P\x00", "(", "\xe9")
