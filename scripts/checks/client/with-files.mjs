// Adds files to an API document, as the generator of resources describes them.

const json = (name) => ({ 'application/json': { schema: { $ref: `#/components/schemas/${name}` } } })
const binary = { schema: { type: 'string', format: 'binary' } }
const parameter = (where, name, type = 'string') => ({ in: where, name, required: where === 'path', schema: { type } })

/** Adds the fields photo, with a file, and papers, with a list of files, to the makers of the document. */
export function addFiles(document) {
  const { schemas } = document.components
  schemas.File = {
    type: 'object', required: ['id', 'name', 'type', 'size', 'sha256', 'url'],
    properties: { ...Object.fromEntries(['id', 'name', 'type', 'sha256', 'url'].map((name) => [name, { type: 'string' }])), size: { type: 'integer' } },
  }
  schemas.FileLink = { type: 'object', required: ['url', 'expiresAt'], properties: { url: { type: 'string' }, expiresAt: { type: 'string', format: 'date-time' } } }
  schemas.LinkBody = { type: 'object', properties: { expiresIn: { type: 'integer', default: 300 } } }
  const { id, ...single } = schemas.File.properties
  const properties = {
    photo: { type: 'object', nullable: true, required: Object.keys(single), properties: single, 'x-file': { maxBytes: 5000000, types: ['image/png'] } },
    papers: { type: 'array', items: { $ref: '#/components/schemas/File' }, 'x-file': { maxBytes: 1000 } },
  }
  Object.assign(schemas.Maker.properties, properties)
  schemas.Maker.required.push(...Object.keys(properties))

  const upload = (status, more = []) => ({
    parameters: [parameter('path', 'id'), parameter('header', 'If-Match'), parameter('query', 'filename'), ...more],
    requestBody: { required: true, content: { 'application/octet-stream': binary, 'multipart/form-data': { schema: { type: 'object', properties: { photo: binary.schema } } } } },
    responses: { [status]: { description: 'stored', content: json('Maker') } },
  })
  const file = (...parameters) => ({
    get: { parameters, responses: { 200: { description: 'the file', content: { '*/*': binary } } } },
    delete: { parameters: [...parameters, parameter('header', 'If-Match')], responses: { 204: { description: 'deleted' } } },
  })
  const link = (...parameters) => ({ post: { parameters, requestBody: { content: json('LinkBody') }, responses: { 201: { description: 'created', content: json('FileLink') } } } })
  const ids = ['id', 'fileId'].map((name) => parameter('path', name))
  const paths = {
    '/makers/{id}/photo': { put: upload(200), ...file(ids[0]) },
    '/makers/{id}/photo/link': link(ids[0]),
    '/makers/{id}/papers': { post: upload(201, [parameter('header', 'Idempotency-Key')]) },
    '/makers/{id}/papers/{fileId}': file(...ids),
    '/makers/{id}/papers/{fileId}/link': link(...ids),
  }
  for (const operation of Object.values(paths).flatMap(Object.values)) { // what linters require
    Object.assign(operation, { summary: 'files', security: [] })
    operation.responses[400] = { description: 'error', content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } } }
  }
  Object.assign(document.paths, paths)
}
