"""The study of the paper and the benchmark tracks: methods under one protocol, tables and figures from records.

It is not part of the library. ``python -m studies --help`` lists its commands.
"""
