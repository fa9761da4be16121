"""Receivers whose fault another one resembles, with SQLite in DATA_DIR: `python3 stories.py NAME`. GET responds with the state."""

import json
import os
import sqlite3
import sys
import threading
import time
import zlib
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

PATH = os.path.join(os.environ.get("DATA_DIR", "."), "stories.db")
NAME = sys.argv[1]
LOCK = threading.Lock()
MEMORY = set()
REQUESTS = []


def connect():
    database = sqlite3.connect(PATH, timeout=10, isolation_level=None)
    database.execute("pragma journal_mode = wal")
    return database


with connect() as first:
    first.executescript(
        """
        create table if not exists seen (id text primary key, user text);
        create table if not exists users (id text primary key, what text, at text);
        create table if not exists events (id text primary key, user text, what text);
        create table if not exists counts (name text primary key, total integer);
        """
    )


def user_of(message):
    return message.get("userId", message.get("anonymousId", "nobody"))


def is_new(database, key, user=""):
    return database.execute("insert or ignore into seen values (?, ?)", (key, user)).rowcount == 1


def count(database, message):
    name = f"{message['type']} {user_of(message)}"
    database.execute("insert into counts values (?, 1) on conflict do update set total = total + 1", (name,))


def upsert_by_arrival(database, message):
    """Sets the plan of a user, whichever message comes last."""
    if message["type"] == "identify":
        plan = message["traits"]["plan"]
        database.execute("insert into users values (?, ?, '') on conflict do update set what = ?", (user_of(message), plan, plan))
    return 200


def without_tombstones(database, message):
    """The newest message of each user counts, and a deletion deletes the time of the newest too."""
    if message["type"] == "delete":
        database.execute("delete from users where id = ?", (user_of(message),))
        return 200
    database.execute(
        "insert into users values (?, ?, ?) on conflict do update set what = excluded.what, at = excluded.at where excluded.at > at",
        (user_of(message), message["type"], message["timestamp"]),
    )
    return 200


def deletion_erases_ids(database, message):
    """Each message once, but a deletion deletes all that is known of a user, the ids of messages included."""
    database.execute("begin immediate")
    if message["type"] == "delete":
        for table in ("events", "seen"):
            database.execute(f"delete from {table} where user = ?", (user_of(message),))
    elif is_new(database, message["messageId"], user_of(message)):
        database.execute("insert into events values (?, ?, ?)", (message["messageId"], user_of(message), message["type"]))
    database.execute("commit")
    return 200


def id_kept_when_busy(database, message):
    """Works on one message at a time, and responds with 503 to others."""
    if not is_new(database, message["messageId"]):
        return 200
    if not LOCK.acquire(blocking=False):
        return 503
    try:
        time.sleep(0.02)
        count(database, message)
        return 200
    finally:
        LOCK.release()


def id_kept_after_503(database, message):
    """Fails at the fifth request since it was started."""
    REQUESTS.append(message["messageId"])
    if not is_new(database, message["messageId"]):
        return 200
    if len(REQUESTS) == 5:
        return 503
    count(database, message)
    return 200


def id_kept_after_each_fourth(database, message):
    """Fails at every fourth new message, in each run at the same ones."""
    if not is_new(database, message["messageId"]):
        return 200
    if database.execute("select count(*) from seen").fetchone()[0] % 4 == 0:
        return 503
    count(database, message)
    return 200


def crc_buckets(database, message):
    """Keeps 6 bits of a checksum of the id."""
    database.execute("begin immediate")
    if is_new(database, str(zlib.crc32(message["messageId"].encode()) % 64)):
        database.execute("insert into events values (?, ?, ?)", (message["messageId"], user_of(message), message["type"]))
    database.execute("commit")
    return 200


def ids_per_process(database, message):
    """Several processes, each of which knows what it has taken itself."""
    with LOCK:
        if message["messageId"] in MEMORY:
            return 200
        MEMORY.add(message["messageId"])
        count(database, message)
    return 200


RECEIVERS = {
    "upsert-by-arrival": upsert_by_arrival,
    "without-tombstones": without_tombstones,
    "deletion-erases-ids": deletion_erases_ids,
    "id-kept-when-busy": id_kept_when_busy,
    "id-kept-after-503": id_kept_after_503,
    "id-kept-after-each-fourth": id_kept_after_each_fourth,
    "crc-buckets": crc_buckets,
    "ids-per-process": ids_per_process,
}


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        database = connect()
        status = RECEIVERS[NAME](database, message)
        database.close()
        self.answer(status, b"")

    def do_GET(self):
        database = connect()
        rows = database.execute("select id, what from users union all select id, what from events union all select name, total from counts")
        state = "\n".join(f"{one} {other}" for one, other in rows.fetchall())
        database.close()
        self.answer(200, state.encode())

    def answer(self, status, body):
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64


server = Server(("127.0.0.1", int(os.environ.get("PORT", "3000"))), Receiver)
if NAME == "ids-per-process":
    for _ in range(3):
        if os.fork() == 0:
            break
server.serve_forever()
