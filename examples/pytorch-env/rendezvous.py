#!/usr/bin/env python3
"""Rank 0 listens on MASTER_PORT, the others come to it; each adds its number, and all must get the same sum.

This is what torch.distributed.init_process_group("env://") and one all_reduce do with the same variables. Where PyTorch
is installed, those two calls can stand in place of serve() and join().
"""
import json
import os
import socket
import sys
import time

PATIENCE = 60.0  # Seconds in which all processes must have come.


def read_environment():
    names = ("RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "NODE_RANK")
    return {name: int(os.environ[name]) for name in names}


def check(ranks):
    if not 0 <= ranks["RANK"] < ranks["WORLD_SIZE"]:
        sys.exit(f"rank {ranks['RANK']} of {ranks['WORLD_SIZE']}")
    if not 0 <= ranks["LOCAL_RANK"] < ranks["LOCAL_WORLD_SIZE"] <= ranks["WORLD_SIZE"]:
        sys.exit(f"local rank {ranks['LOCAL_RANK']} of {ranks['LOCAL_WORLD_SIZE']}")


def serve(address, world):
    """Rank 0: hears all others, and tells each the sum."""
    numbers = {0: 1}
    with socket.create_server(address) as server:
        server.settimeout(PATIENCE)
        peers = []
        while len(numbers) < world:
            peer = server.accept()[0]
            word = json.loads(peer.makefile().readline())
            if word["world"] != world or word["rank"] in numbers or not 0 < word["rank"] < world:
                sys.exit(f"{word} came, but I am rank 0 of {world} and know {sorted(numbers)}")
            numbers[word["rank"]] = word["number"]
            peers.append(peer)
        for peer in peers:
            peer.sendall(f"{sum(numbers.values())}\n".encode())
            peer.close()
    return sum(numbers.values())


def join(address, rank, world):
    """Any other rank: comes until rank 0 listens."""
    end = time.monotonic() + PATIENCE
    while True:
        try:
            master = socket.create_connection(address, timeout=PATIENCE)
            break
        except ConnectionRefusedError:
            if time.monotonic() > end:
                sys.exit(f"no process listens on {address}")
            time.sleep(0.1)
    with master:
        master.sendall((json.dumps({"rank": rank, "world": world, "number": rank + 1}) + "\n").encode())
        return int(master.makefile().readline())


def main():
    ranks = read_environment()
    check(ranks)
    address = (os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"]))
    rank, world = ranks["RANK"], ranks["WORLD_SIZE"]
    total = serve(address, world) if rank == 0 else join(address, rank, world)
    if total != world * (world + 1) // 2:
        sys.exit(f"the sum is {total}")
    print(f"rank {rank} of {world} met all others at {address[0]}:{address[1]}: the sum is {total}", flush=True)


if __name__ == "__main__":
    main()
