// Shows /api/openapi.json. A proxy may serve the service below a path of its site, which the document does not know: requests go there too.
const site = new URL('..', window.location.href).pathname
const servedHere = (update) => (document) => update({ ...document, servers: [{ url: site.replace(/(?<=.)\/$/, '') }] })

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
  plugins: [{ statePlugins: { spec: { wrapActions: { updateJsonSpec: servedHere } } } }],
})
