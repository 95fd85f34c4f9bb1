"""The server: turns the bytes of many clients into complete requests, and sends answers to clients at their own speed.

One process is one worker of gunicorn, with one event loop. Nobody waits for a client: its head, its body, its reading
are a few kilobytes of state on the loop, with a deadline. So clients cost each other nothing but evaluation time, which
is bounded and shared fairly.

**Who reads.** `accepting.py` accepts connections, a few per event; a process with more connections than another stands
back for a moment. `connection.py` is a connection: a phase, and its deadline. `reading.py` turns bytes into requests,
with gunicorn's parser for heads and chunks, and `head.py` checks what the parser accepts. All connections of a process
read into one buffer (`server.py`), in short pieces where each byte costs time. A short body stays in memory; a longer
one goes to an unnamed file (`incoming_body.py`).

**Passes.** The application (Flask) is called with complete requests, sometimes several times for one; see ../passes.py.
A long body is preceded by a pass without it, so that a missing key or an unknown path is refused before the upload.
Work that turns out to be long in the pass for small requests moves to the one for big ones. `exchange.py` is a request
on its way through its passes.

**Who waits where.** A complete request waits in a lane (`lane.py`), which is a queue, and whoever works on it:

    small      heads and small requests: the loop, one between two rounds of reading and sending; a thread would only
               compete with it for the GIL
    columnar   small Parquet and Arrow bodies: one thread, which hands them to an evaluator
    big        all other work: a thread for each slot; slots are counted over all processes

The queues are fair (`queues.py`): between owners (API keys, or addresses if there are none), then between connections.
Those who have recently used less time go first, and waiting raises priority. A full queue turns away the last request
of the owner with the most in it, and a request that waits too long is dropped: both get 503 with Retry-After. In the
big lane (`lanes/fair_slots.py`) an owner who already has a slot cannot get the last free one while others want one, and
the process that has waited longest gets the next. A request whose client has gone is removed from its queue, and the
evaluator process that works on it is ended. After a second, that includes a client that has closed its sending side.

**Who sends.** `sending.py` feeds the loop's transport with pieces of an answer as the client reads them, from memory or
from the file that an evaluator wrote. After the last answer of a connection its sending side is closed, and further
input is dropped for a few seconds: closing at once would reset the connection, and might destroy the answer before it
is read.

**What bounds what.**

    a head                     32 KiB in all, 100 fields, 10 s
    a body                     ROCPR_MAX_BODY_BYTES, 10 s and the time that its bytes take at ROCPR_MIN_BODY_RATE
    bodies in small chunks     a fifth of the loop's time for all together, in turns by address
    long bodies                1 MiB for all together in a round of the loop; of more than 64 clients, the same turns
    a silent client            10 s in a request, `keepalive` between requests
    an unread answer           30 s without progress
    an answer                  ROCPR_MAX_ANSWER_BYTES; 64 MiB of names; in memory four times ROCPR_BIG_BODY_BYTES
    bodies, answers in files   ROCPR_SPOOL_BYTES, also while evaluators write; the slowest clients make way
    bodies, answers in memory  128 MiB a process, likewise
    connections                ROCPR_CONNECTIONS, or as many as there are descriptors; those without a request make way
    the queues                 256 small, 256 columnar and 64 big requests a process, ROCPR_QUEUE_SECONDS
    evaluation                 ROCPR_SMALL_SECONDS in the small lanes; ROCPR_BIG_SECONDS and ROCPR_SLOTS in the big one

A sweep once a second (`expiry.py`) ends what is past its deadline. The worker then sends gunicorn's master a heartbeat;
the master replaces a process whose loop is stuck.
"""
