<?php
// Asks the server at the address given for an area, a verdict and a refusal, and prints a value of each.
declare(strict_types=1);

use OpenAPI\Client\Api\CurvesApi;
use OpenAPI\Client\Api\GatesApi;
use OpenAPI\Client\ApiException;
use OpenAPI\Client\Configuration;
use OpenAPI\Client\Model\CurvesRequest;
use OpenAPI\Client\Model\GatesRequest;
use OpenAPI\Client\Model\Rule;

require 'GuzzleHttp/autoload.php'; // as Debian has it
spl_autoload_register(function (string $class): void {
    require $_SERVER['argv'][2] . '/lib/' . strtr(substr($class, strlen('OpenAPI\\Client\\')), '\\', '/') . '.php';
});

$sample = ['scores' => [0.9, 0.8, 0.7, 0.7, 0.4, 0.2], 'labels' => [1, 0, 1, 1, 0, 0]];
$configuration = (new Configuration())->setHost($argv[1]);
$curves = new CurvesApi(null, $configuration);
$area = $curves->evaluateCurves(new CurvesRequest($sample))->getAuc()->getRoc();
$rule = new Rule(['metric' => 'roc', 'min' => 0.7]);
$gate = (new GatesApi(null, $configuration))->checkGate(new GatesRequest($sample + ['rules' => [$rule]]));
try {
    $curves->evaluateCurves(new CurvesRequest(['labels' => [1, 0]] + $sample));
} catch (ApiException $refused) {
    $pointer = $refused->getResponseObject()->getErrors()[0]->getPointer();
    echo json_encode($area), ' ', $gate->getStatus(), ' ', $pointer, "\n";
}
