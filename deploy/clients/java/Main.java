import java.util.List;
import org.openapitools.client.ApiClient;
import org.openapitools.client.ApiException;
import org.openapitools.client.api.CurvesApi;
import org.openapitools.client.api.GatesApi;
import org.openapitools.client.model.CurvesRequest;
import org.openapitools.client.model.GatesRequest;
import org.openapitools.client.model.Problem;
import org.openapitools.client.model.Rule;

/** Asks the server at the address given for an area, a verdict and a refusal, and prints a value of each. */
public class Main {
  static final List<Double> SCORES = List.of(0.9, 0.8, 0.7, 0.7, 0.4, 0.2);
  static final List<Object> LABELS = List.of(1, 0, 1, 1, 0, 0);

  public static void main(String[] arguments) throws Exception {
    ApiClient client = new ApiClient();
    client.updateBaseUri(arguments[0]);
    CurvesApi curves = new CurvesApi(client);
    Double area = curves.evaluateCurves(new CurvesRequest().scores(SCORES).labels(LABELS)).getAuc().getRoc();
    Rule rule = new Rule().metric(Rule.MetricEnum.ROC).min(0.7);
    GatesRequest gate = new GatesRequest().scores(SCORES).labels(LABELS).rules(List.of(rule));
    String status = new GatesApi(client).checkGate(gate).getStatus();
    try {
      curves.evaluateCurves(new CurvesRequest().scores(SCORES).labels(List.of(1, 0)));
    } catch (ApiException refused) {
      Problem problem = client.getObjectMapper().readValue(refused.getResponseBody(), Problem.class);
      System.out.println(area + " " + status + " " + problem.getErrors().get(0).getPointer());
    }
  }
}
