"""Processes that wait for work on a socket each, are replaced when they die and end with us.

They are started as programs (fork and exec), never forked from this process, which has threads;
so each has a command line and a name of its own, and none shares a lock that nobody will release.
"""
