// What /docs adds to Swagger UI, whose page has made its `config` and starts once it is loaded.

// Swagger UI leaves its heading out of the landmarks, skips levels of headings, names neither the fields of parameters nor
// the body, and has links within buttons and regions that only a mouse can scroll. A link leads where its button does.
new MutationObserver(function () {
  const each = (selector, mend) => document.querySelectorAll(selector).forEach(mend);
  each(".information-container", (region) => Object.assign(region, {role: "region", ariaLabel: "About"}));
  each(".opblock-tag", (heading) => { heading.ariaLevel = 2; });
  each(".opblock h4", (heading) => { heading.ariaLevel = 3; });
  each(".opblock h5", (heading) => { heading.ariaLevel = 4; });
  each(".opblock-summary-control a", (link) => link.removeAttribute("href"));
  each("tr[data-param-name] :is(select, input)", (field) => {
    field.ariaLabel = field.closest("tr").dataset.paramName;
  });
  each(".examples-select-element", (field) => { field.ariaLabel = "Example"; });
  each(".body-param__text", (body) => { body.ariaLabel = "Request body"; });
  each(".microlight, .opblock-description-wrapper, .parameters-container", (region) => { region.tabIndex = 0; });
}).observe(document.getElementById("swagger-ui"), {childList: true, subtree: true});

// It offers an answer as a file only if a header says so, and shows nothing for other binary answers.
config.responseInterceptor = function (response) {
  if (/arrow/.test(response.headers["content-type"])) {
    response.headers["content-disposition"] = "attachment; filename=answer.arrow";
  }
  return response;
};

// If "--" is chosen in a list, it sends a parameter without a value.
config.requestInterceptor = function (request) {
  const [path, query] = request.url.split("?");
  const given = (query || "").split("&").filter((item) => item && !item.endsWith("="));
  request.url = given.length ? path + "?" + given.join("&") : path;
  return request;
};
