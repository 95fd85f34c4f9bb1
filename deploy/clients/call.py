"""Asks the server at the address given for an area, a verdict and a refusal, and prints a value of each."""

import sys

from openapi_client import (  # what openapi-generator made
    ApiClient,
    Configuration,
    CurvesApi,
    CurvesRequest,
    GatesApi,
    GatesRequest,
    Rule,
)
from openapi_client.exceptions import UnprocessableEntityException

SAMPLE = {"scores": [0.9, 0.8, 0.7, 0.7, 0.4, 0.2], "labels": [1, 0, 1, 1, 0, 0]}

client = ApiClient(Configuration(host=sys.argv[1]))
curves = CurvesApi(client)
area = curves.evaluate_curves(CurvesRequest(**SAMPLE)).auc.roc
status = GatesApi(client).check_gate(GatesRequest(**SAMPLE, rules=[Rule(metric="roc", min=0.7)])).status
try:
    curves.evaluate_curves(CurvesRequest(scores=SAMPLE["scores"], labels=[1, 0]))
except UnprocessableEntityException as refused:
    print(area, status, refused.data.errors[0].pointer)
