"""Serve a review of generated samples until the process is killed: ``python -m tests.review.serve_forever FILE``."""

import sys

from spmld.review import DecisionStore, ReviewServer
from tests.review.cases import make_session

if __name__ == "__main__":
    with DecisionStore(sys.argv[1]) as store:
        server = ReviewServer(make_session(store, n=2000))
        print(server.port, server.token, flush=True)
        server.serve_forever()
