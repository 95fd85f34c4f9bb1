"""The server: how bytes of many clients become whole requests, and how answers reach those who read them.

One process is one worker of gunicorn, with one event loop. Nothing a client does holds a thread: everything that waits
for a client (its head, its body, its reading) waits on the loop as a few kilobytes of state with a deadline. Threads
evaluate, and do nothing else. So what one client costs another is evaluation alone, which is bounded and shared fairly.

**Who reads.** `accepting.py` takes connections, one an event; a process that has more connections than another stands
back for a moment. `connection.py` is a connection: a phase, and the deadline of that phase. `reading.py` makes requests
of bytes, with gunicorn's parser for heads and chunks, and `head.py` checks what the parser lets pass. All connections
of a process read into one buffer, in short pieces where bytes cost time. A body stays in memory while it is short and
then goes to a file without a name (`incoming_body.py`).

**Passes.** The application (Flask) is called with whole requests, and sometimes more than once for one: passes.py, one
floor up, says how. A long body is preceded by a pass without it, so that who has no key, or asks for what there is
not, learns that before the upload. What turns out to be long work in the pass for small requests is moved to the one
for big ones. `exchange.py` is a request on its way through its passes.

**Who waits where.** A request that is ready waits in a lane (`lane.py`), which is a queue and threads:

    small      heads and small requests: one thread, because a process uses one processor at a time
    columnar   small Arrow and Parquet bodies: one thread, which hands them to an evaluator process
    big        all other work: a thread for each slot; slots are counted over all processes

The queues are fair (`queues.py`): between owners, that is API keys or else addresses, and then between connections.
Whoever has used less time lately goes first, and whoever waits gains on all others. A queue that is full turns away the
last request of whoever has most in it, and a turn that does not come in time is over: both are 503 with Retry-After. In
the big lane (`lanes/fair_slots.py`) no owner who already has a slot gets the last free one while others have asked for
one, and of several processes the one that has waited longest gets the next. A request whose client has gone is taken
out of its queue, and the evaluator process that works on it is ended.

**Who sends.** `sending.py` gives the loop's transport one piece of an answer after the other, as the client reads them:
from memory, from the file that an evaluator wrote, or from a generator whose thread waits for room. After the last
answer of a connection its sending side is closed, and what the client still sends is dropped for a few seconds: closing
at once would reset the connection, and may destroy the answer before it is read.

**What bounds what.**

    a head                     32 KiB in all, 100 fields, 10 s
    a body                     ROCPR_MAX_BODY_BYTES, 10 s and the time that its bytes take at ROCPR_MIN_BODY_RATE
    bodies in small chunks     a fifth of the loop's time for all together, in turns by address
    a silent client            10 s in a request, `keepalive` between requests
    an unread answer           30 s without progress
    bodies, unread answers     ROCPR_SPOOL_BYTES in files, 128 MiB of memory a process; the slowest clients make way
    connections                ROCPR_CONNECTIONS, or as many as there are descriptors; those without a request make way
    the queues                 256 small, 256 columnar and 64 big requests a process, ROCPR_QUEUE_SECONDS
    evaluation                 ROCPR_BIG_WORK in the small lanes; ROCPR_BIG_SECONDS and ROCPR_SLOTS in the big one

A sweep once a second (`sweep.py`) ends what is past its deadline. The worker then tells gunicorn's master that the
process is well, unless the thread for small requests is stuck; then the master replaces the process.
"""
