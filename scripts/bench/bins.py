#!/usr/bin/env python3
"""Measures bins: bins.py URL [COUNT] [SELECTS]

The service at URL has at least one video. Makes COUNT bins (500) with one select each and a bin with SELECTS selects
(10,000). Prints the median and 95th percentile, in milliseconds over one connection, of listing bins and selects and of
moving selects. Then four clients move and add selects of the same bin at once, with and without a condition, and every
select must still be there once.
"""

import random
import statistics
import sys
import threading

from library import Service

BAR_LIST = 20  # milliseconds, median
BAR_MOVE = 50  # milliseconds, median
ROUNDS = 60
BATCH = 1000
CLIENTS = 4
CHANGES = 25  # per client


def report(name, times, bar):
    median = statistics.median(times)
    late = sorted(times)[int(len(times) * 0.95)]
    print(f"{name}: p50 {median:.1f} ms, p95 {late:.1f} ms (bar {bar}): {'within' if median <= bar else 'OVER'}")


def timed(service, name, bar, request):
    times = [service.request(*request())[1] for _ in range(ROUNDS)]
    report(name, times, bar)


def all_selects(service, path):
    """Ids of all selects of a bin, in order."""
    ids = []
    while True:
        page, _ = service.request("GET", f"{path}/selects?limit=500&offset={len(ids)}")
        ids += [select["select_id"] for select in page["selects"]]
        if not page["selects"]:
            return ids


def main():
    url = sys.argv[1]
    bins = int(sys.argv[2]) if len(sys.argv) > 2 else 500
    count = int(sys.argv[3]) if len(sys.argv) > 3 else 10_000
    service = Service(url)
    video = service.request("GET", "/videos?limit=1")[0]["videos"][0]
    random_ = random.Random(4)

    def select():
        start = round(random_.uniform(0, max(video["duration"] - 1, 0)), 2)
        end = round(min(start + 1, video["duration"]), 2)
        return {"video_id": video["video_id"], "start": start, "end": end, "note": f"Quote {random_.random()}"}

    def create(name):
        bin_, _ = service.request("POST", "/bins", {"name": name})
        return f"/bins/{bin_['bin_id']}"

    for index in range(bins - 1):
        service.request("POST", f"{create(f'Story {index}')}/selects", {"selects": [select()]})
    large = create("Everything")
    for at in range(0, count, BATCH):
        batch = [select() for _ in range(min(BATCH, count - at))]
        service.request("POST", f"{large}/selects", {"selects": batch})
    ids = all_selects(service, large)
    print(f"{bins} bins, one with {len(ids)} selects")

    timed(service, "first 100 bins", BAR_LIST, lambda: ("GET", "/bins"))
    timed(service, "all bins", BAR_LIST, lambda: ("GET", "/bins?limit=500"))
    timed(service, "first 100 selects", BAR_LIST, lambda: ("GET", f"{large}/selects"))
    timed(service, "500 selects", BAR_LIST, lambda: ("GET", f"{large}/selects?limit=500"))

    def move(amount):
        chosen = random_.sample(ids, amount)
        return "POST", f"{large}/selects/move", {"select_ids": chosen, "position": random_.randrange(len(ids))}

    timed(service, "one select moved", BAR_MOVE, lambda: move(1))
    timed(service, "100 selects moved", BAR_MOVE, lambda: move(100))
    check_concurrent_changes(url, large, ids, select)


def check_concurrent_changes(url, path, ids, select):
    """Changes a bin with several clients at once, and checks that no select is lost or doubled."""
    added, failures = [], []

    def client(seed):
        own, random_ = Service(url), random.Random(seed)
        try:
            for turn in range(CHANGES):
                if turn % 5 == 0:
                    body, _ = own.request("POST", f"{path}/selects", {"selects": [select()], "position": 0})
                    added.extend(one["select_id"] for one in body["selects"])
                else:
                    body = {"select_ids": [random_.choice(ids)], "position": random_.randrange(len(ids))}
                    own.request("POST", f"{path}/selects/move", body)
        except SystemExit as failure:
            failures.append(str(failure))

    kept = len(ids) - CLIENTS * CHANGES // 5
    service = Service(url)
    service.request("POST", f"{path}/selects/remove", {"select_ids": ids[kept:]})
    del ids[kept:]
    clients = [threading.Thread(target=client, args=(seed,)) for seed in range(CLIENTS)]
    for each in clients:
        each.start()
    for each in clients:
        each.join()
    left = all_selects(service, path)
    complete = sorted(left) == sorted(ids + added)
    refused = [failure for failure in failures if " 409 " not in failure]
    print(f"{CLIENTS} clients, {CLIENTS * CHANGES} changes at once: {len(left)} selects, "
          f"{'none lost' if complete else 'LOST OR DOUBLED'}; {len(failures)} clients had a conflict")
    if not complete or refused:
        sys.exit(f"bins: {refused[:3]}")


if __name__ == "__main__":
    main()
