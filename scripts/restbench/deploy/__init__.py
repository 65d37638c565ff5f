"""Services, their programs and the proxies before them: up, ready, ask, down."""
