"""Services, their programs, proxies and database: started, awaited, asked, stopped."""
