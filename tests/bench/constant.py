"""The least that the stack allows: a Flask application that reads a body and answers so many bytes, whatever was sent.

gunicorn serves it as it comes, with threads and without anything of rocpr.
"""

from flask import Flask, Response, request

app = Flask(__name__)


@app.get("/health/live")
def live() -> str:
    return "ok"


@app.post("/v1/curves")
def curves() -> Response:
    request.get_data()
    return Response(bytes(request.args.get("bytes", 0, int)), mimetype="application/octet-stream")
