// Shows /api/openapi.json.
window.SwaggerUIBundle({
  url: 'openapi.json',
  dom_id: '#docs',
  deepLinking: true,
  docExpansion: 'list',
  defaultModelsExpandDepth: 0,
  displayRequestDuration: true,
  filter: true,
  // Nothing is asked of an outside address.
  validatorUrl: null,
})
