// Asks the server at the address given for an area, a verdict and a refusal, and prints a value of each.
package main

import (
	"context"
	"fmt"
	"log"
	"os"

	client "github.com/GIT_USER_ID/GIT_REPO_ID"
)

func main() {
	configuration := client.NewConfiguration()
	configuration.Servers = client.ServerConfigurations{{URL: os.Args[1]}}
	api, ctx := client.NewAPIClient(configuration), context.Background()
	scores, labels := []float64{0.9, 0.8, 0.7, 0.7, 0.4, 0.2}, []interface{}{1, 0, 1, 1, 0, 0}

	request := client.CurvesRequest{Scores: scores, Labels: labels}
	curves, _, err := api.CurvesAPI.EvaluateCurves(ctx).CurvesRequest(request).Execute()
	if err != nil {
		log.Fatal(err)
	}
	rule := client.NewRule()
	rule.SetMetric("roc")
	rule.SetMin(0.7)
	asked := client.GatesRequest{Scores: scores, Labels: labels, Rules: []client.Rule{*rule}}
	gate, _, err := api.GatesAPI.CheckGate(ctx).GatesRequest(asked).Execute()
	if err != nil {
		log.Fatal(err)
	}
	request.Labels = labels[:2]
	_, _, err = api.CurvesAPI.EvaluateCurves(ctx).CurvesRequest(request).Execute()
	problem := err.(*client.GenericOpenAPIError).Model().(client.Problem)
	fmt.Println(curves.Auc.GetRoc(), gate.Status, problem.Errors[0].Pointer)
}
