// Shows /api/openapi.json. A proxy may serve the service below a path of its site. The document does not contain that
// path, so requests get it here.
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
  // The page sends no request to an outside address.
  validatorUrl: null,
  plugins: [{ statePlugins: { spec: { wrapActions: { updateJsonSpec: servedHere } } } }],
})
