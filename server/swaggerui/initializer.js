const methods = ['get', 'post', 'put', 'patch', 'delete']

// Replaces the placeholder of the master key in a body by the key that was entered.
function enterMasterKey(request) {
  const key = window.ui?.authSelectors.authorized().getIn(['MasterKey', 'value']) // the first request gets the document
  if (key && typeof request.body === 'string') request.body = request.body.replace('"your MASTER_KEY"', JSON.stringify(key))
  return request
}

// Uses the token of a sign-in for the next calls.
function keepToken(response) {
  if (response.status === 201 && response.obj?.refreshToken) {
    const schema = ui.specSelectors.securityDefinitions().get('UserToken')
    ui.authActions.authorizeWithPersistOption({ UserToken: { name: 'UserToken', schema, value: response.obj.token } })
  }
  return response
}

window.ui = SwaggerUIBundle({
  // Relative, whatever prefix a proxy puts before both.
  url: '../openapi.json',
  dom_id: '#swagger-ui',
  deepLinking: true,
  persistAuthorization: true,
  tryItOutEnabled: true,
  defaultModelsExpandDepth: -1, // the schemas stand with the operations
  validatorUrl: null, // which would be another host
  requestInterceptor: enterMasterKey,
  responseInterceptor: keepToken,
  onComplete: () => { document.title = ui.specSelectors.info().get('title') },
  operationsSorter: (a, b) =>
    a.get('path').localeCompare(b.get('path')) || methods.indexOf(a.get('method')) - methods.indexOf(b.get('method')),
})
