// Asks the server at the address given for an area, a verdict and a refusal, and prints a value of each.
import { Configuration, CurvesApi, GatesApi, ProblemFromJSON, ResponseError } from "./client/index.js";

const configuration = new Configuration({ basePath: process.argv[2] });
const curves = new CurvesApi(configuration);
const sample = { scores: [0.9, 0.8, 0.7, 0.7, 0.4, 0.2], labels: [1, 0, 1, 1, 0, 0] };

const answer = await curves.evaluateCurves({ curvesRequest: sample });
const gatesRequest = { ...sample, rules: [{ metric: "roc" as const, min: 0.7 }] };
const gate = await new GatesApi(configuration).checkGate({ gatesRequest });
try {
  await curves.evaluateCurves({ curvesRequest: { ...sample, labels: [1, 0] } });
} catch (error) {
  if (!(error instanceof ResponseError)) throw error;
  const problem = ProblemFromJSON(await error.response.json());
  console.log(answer.auc?.roc, gate.status, problem.errors?.[0].pointer);
}
