const methods = ['get', 'post', 'put', 'patch', 'delete']

// Shows the document of the service that served this page, whatever prefix a proxy puts before both.
window.ui = SwaggerUIBundle({
  url: '../openapi.json',
  dom_id: '#swagger-ui',
  deepLinking: true,
  persistAuthorization: true,
  defaultModelsExpandDepth: -1, // the schemas stand with the operations
  validatorUrl: null, // which would be another host
  operationsSorter: (a, b) =>
    a.get('path').localeCompare(b.get('path')) || methods.indexOf(a.get('method')) - methods.indexOf(b.get('method')),
})
