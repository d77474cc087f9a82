"""Stores for blocks that the pool has no room for: in host memory, and in a folder on disk.

A block is stored under a digest of everything its contents depend on (`Stores`), so that a
wrong block can't be found. What is damaged or gone counts as not stored, and is computed again.

- `disk_folder`: The folder, which several servers of one machine may share, and the file of a
  block, with a checksum.
- `disk_thread`: The thread that reads and writes it, so that no step waits for a disk.
- `eviction_order`: Which block of a full store goes next: LRU or LFU.
- `fetch`: The blocks that one waiting sequence gets from the stores.
- `stores`: The store in host memory, and both stores, from the fast one to the slow one.
"""
