"""Receivers with SQLite in DATA_DIR: `python3 receivers.py NAME`. GET responds with the state."""

import hashlib
import json
import os
import sqlite3
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

PATH = os.path.join(os.environ.get("DATA_DIR", "."), "receiver.db")
NAME = sys.argv[1]


def connect():
    database = sqlite3.connect(PATH, timeout=10, isolation_level=None)
    database.execute("pragma journal_mode = wal")
    return database


with connect() as first:
    first.executescript(
        """
        create table if not exists seen (id text primary key);
        create table if not exists orders (id text primary key, user text, what text);
        create table if not exists outbox (id text primary key, what text);
        create table if not exists sums (name text primary key, total integer);
        """
    )


def what_of(message):
    return f"{message['type']} {message.get('userId', 'nobody')} {message.get('event', '')}"


def once_by(database, key, message):
    """Takes a message whose key is new; everything in one transaction."""
    database.execute("begin immediate")
    if database.execute("insert or ignore into seen values (?)", (key,)).rowcount == 1:
        database.execute("insert into sums values (?, 1) on conflict do update set total = total + 1", (what_of(message),))
    database.execute("commit")
    return 200


def key_by_content(database, message):
    """Two messages that say the same are one to it."""
    content = {name: value for name, value in message.items() if name != "messageId"}
    key = hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
    return once_by(database, key, message)


def key_cut_off(database, message):
    """Its column has 20 characters."""
    return once_by(database, message["messageId"][:20], message)


def user_of(message):
    return message.get("userId", message.get("anonymousId", "nobody"))


def key_by_user(database, message):
    """Takes one message of each user, and counts them by type."""
    database.execute("begin immediate")
    if database.execute("insert or ignore into seen values (?)", (user_of(message),)).rowcount == 1:
        database.execute("insert into sums values (?, 1) on conflict do update set total = total + 1", (message["type"],))
    database.execute("commit")
    return 200


def first_seen(database, message):
    """Keeps what each user did first."""
    database.execute("insert or ignore into orders values (?, ?, ?)", (user_of(message), user_of(message), message["type"]))
    return 200


def distinct_users(database, message):
    """Counts the users of each type."""
    database.execute("begin immediate")
    key = f"{message['type']} {user_of(message)}"
    if database.execute("insert or ignore into seen values (?)", (key,)).rowcount == 1:
        database.execute("insert into sums values (?, 1) on conflict do update set total = total + 1", (message["type"],))
    database.execute("commit")
    return 200


def last_write_wins(database, message):
    """Sets the plan of a user, whichever message comes last."""
    if message["type"] == "identify":
        plan = message["traits"]["plan"]
        database.execute("insert into orders values (?, '', ?) on conflict do update set what = ?", (user_of(message), plan, plan))
    return 200


def effect_despite_5xx(database, message):
    """Calls a service that fails the first time, after the effect."""
    database.execute("begin immediate")
    if database.execute("select 1 from seen where id = ?", (message["messageId"],)).fetchone():
        database.execute("commit")
        return 200
    is_first = database.execute("insert or ignore into outbox values (?, '')", (message["messageId"],)).rowcount == 1
    database.execute("insert into sums values (?, 1) on conflict do update set total = total + 1", (what_of(message),))
    if not is_first:
        database.execute("insert into seen values (?)", (message["messageId"],))
    database.execute("commit")
    return 500 if is_first else 200


def unique_answered_with_500(database, message):
    """The error of the unique key is nobody's."""
    try:
        database.execute(
            "insert into orders values (?, ?, ?)",
            (message["messageId"], message.get("userId", "nobody"), what_of(message)),
        )
        return 200
    except sqlite3.IntegrityError:
        return 500


def upsert(database, message):
    """A unique key with upsert."""
    database.execute(
        "insert into orders values (?, ?, ?) on conflict (id) do update set what = excluded.what",
        (message["messageId"], message.get("userId", "nobody"), what_of(message)),
    )
    return 200


def inbox(database, message):
    """An inbox table in the transaction of the effect."""
    return once_by(database, message["messageId"], message)


def outbox(database, message):
    """A transactional outbox, which a worker empties."""
    database.execute("begin immediate")
    if database.execute("insert or ignore into seen values (?)", (message["messageId"],)).rowcount == 1:
        database.execute("insert into outbox values (?, ?)", (message["messageId"], what_of(message)))
    database.execute("commit")
    return 202


def empty_outbox():
    database = connect()
    while True:
        time.sleep(0.1)
        for key, what in database.execute("select id, what from outbox order by rowid").fetchall():
            database.execute("begin immediate")
            database.execute("insert or ignore into orders values (?, '', ?)", (key, what))
            database.execute("delete from outbox where id = ?", (key,))
            database.execute("commit")


RECEIVERS = {
    "key-by-content": key_by_content,
    "key-cut-off": key_cut_off,
    "effect-despite-5xx": effect_despite_5xx,
    "unique-answered-with-500": unique_answered_with_500,
    "key-by-user": key_by_user,
    "last-write-wins": last_write_wins,
    "first-seen": first_seen,
    "distinct-users": distinct_users,
    "upsert": upsert,
    "inbox": inbox,
    "outbox": outbox,
}


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        database = connect()
        status = RECEIVERS[NAME](database, message)
        database.close()
        self.answer(status, b"")

    def do_GET(self):
        rows = connect().execute("select what, user from orders union all select name, total from sums").fetchall()
        self.answer(200, "\n".join(f"{what} {rest}" for what, rest in rows).encode())

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


if NAME == "outbox":
    threading.Thread(target=empty_outbox, daemon=True).start()
Server(("127.0.0.1", int(os.environ.get("PORT", "3000"))), Receiver).serve_forever()
