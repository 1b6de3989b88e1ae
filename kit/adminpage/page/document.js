// What the page reads in the API document: operations, resources and their fields. Nothing here knows a resource.

/** The operations that an admin can call with a user token. */
const callers = ['public', 'user', 'admin', 'role', 'step-up']

let schemas = {}

/** Returns a schema without references to others. */
export function resolve(schema = {}) {
  if (schema.$ref) return { ...resolve(schemas[schema.$ref.split('/').pop()]), ...without(schema, '$ref') }
  if (schema.allOf?.length === 1) return { ...resolve(schema.allOf[0]), ...without(schema, 'allOf') }
  return schema
}

function without(object, name) {
  const { [name]: _, ...rest } = object
  return rest
}

/** Returns the words of a name: 'createdAt' is 'Created', 'blog-posts' is 'Blog posts', 'makerId' is 'Maker'. */
export function humanize(name) {
  const words = name.replace(/([a-z0-9])([A-Z])/g, '$1 $2').replace(/[-_]/g, ' ').toLowerCase().replace(/(.) (id|at)$/, '$1')
  return (words[0].toUpperCase() + words.slice(1)).replace(/\b(id|url|ip|api|json)\b/gi, (word) => word.toUpperCase())
}

/** Returns the type of a field, which decides how it is shown and edited. */
export function typeOf(schema) {
  const { type, format } = schema
  if (schema['x-file']) return type === 'array' ? 'files' : 'file'
  if (schema['x-reference']) return type === 'array' ? 'references' : 'reference'
  if (type === 'array') return resolve(schema.items).type === 'object' ? 'json' : 'list'
  if (type === 'object') return schema.properties ? 'object' : schema.additionalProperties?.type === 'string' ? 'map' : 'json'
  if (schema.enum) return 'enum'
  if (type === 'boolean') return 'boolean'
  if (type === 'integer' || type === 'number' || format === 'decimal') return 'number'
  if (format === 'date-time') return 'time'
  if (format === 'date' || format === 'password') return format
  if (format === 'uri') return 'url'
  return type === 'string' && (schema.maxLength ?? 0) > 2048 ? 'text' : 'string'
}

const bodyOf = (operation) => resolve(operation?.requestBody?.content?.['application/json']?.schema)
const resultOf = (operation) => {
  const [, response] = Object.entries(operation?.responses ?? {}).find(([status]) => status[0] === '2') ?? []
  return resolve(response?.content?.['application/json']?.schema)
}

/** Returns a field for forms. */
export function newField(name, schema, more) {
  const resolved = resolve(schema)
  return { name, schema: resolved, type: typeOf(resolved), label: humanize(name), reference: resolved['x-reference'], ...more }
}

/** Returns the fields of the body of an operation. */
export function fieldsOf(operation, { except = [] } = {}) {
  const { properties = {}, required = [] } = bodyOf(operation)
  const out = Object.entries(properties).filter(([name]) => !except.includes(name))
    .map(([name, schema]) => newField(name, schema, { create: true, change: true, required: required.includes(name) }))
  return out.sort((a, b) => b.required - a.required)
}

const proofs = ['code', 'recovery_code', 'access_token'] // of step-up, which the dialog asks for
const last = ['userId', 'organizationId', 'createdAt', 'updatedAt', 'id']

/** Returns the fields of a resource: the title first, then in the order of the list's parameters, and what all records have at the end. */
function readFields(resource) {
  const row = resolve(resultOf(resource.list).properties?.rows?.items).properties ?? {}
  const record = { ...row, ...resultOf(resource.get ?? resource.create ?? resource.change).properties }
  const create = bodyOf(resource.create), change = bodyOf(resource.change)
  const all = { ...change.properties, ...create.properties, ...record }
  const mentioned = [...resource.sorts, ...Object.keys(resource.filters)]
  const searched = resource.search ? resource.search.replace(/^.* in /, '') : ''
  const rank = (name) => {
    if (name === resource.title) return -3
    if (new RegExp(`\\b${name}\\b`).test(searched)) return -2
    if (last.includes(name)) return 1000 + last.indexOf(name)
    const place = mentioned.indexOf(name)
    return place < 0 ? (create.required?.includes(name) ? -1 : 500) : place
  }
  return Object.entries(all).filter(([name]) => name in record ? !['expand', 'etag'].includes(name) : !proofs.includes(name)).map(([name, schema]) => newField(name, schema, {
    label: name === 'userId' && resource.own ? 'Owner' : humanize(name),
    creates: resolve(create.properties?.[name]),
    changes: resolve(change.properties?.[name]),
    shown: name in record,
    inList: name in row,
    create: name in (create.properties ?? {}),
    change: name in (change.properties ?? {}),
    required: create.required?.includes(name) ?? false,
    expands: resource.expands.includes(name),
    sorts: resource.sorts.includes(name),
  })).sort((a, b) => rank(a.name) - rank(b.name) || (a.type === 'text') - (b.type === 'text'))
}

/** Reads the parameters of a list. */
function readList(operation) {
  const out = { search: false, sorts: [], expands: [], filters: {}, parameters: {} }
  for (const { name, schema, in: place, description } of operation?.parameters ?? []) {
    if (place !== 'query') continue
    out.parameters[name] = schema
    const items = schema?.items?.enum ?? []
    const [, field, operator = 'eq'] = name.match(/^(\w+)(?:\[(\w+)\])?$/) ?? []
    if (name === 'q') out.search = description
    else if (name === 'sort') out.sorts = items.filter((item) => item[0] !== '-')
    else if (name === 'expand') out.expands = items
    else if (!['bom', 'format', 'page', 'limit', 'after', 'fields', 'etags', 'count'].includes(name)) {
      out.filters[field] ??= { schema: operator === 'in' ? schema.items : schema, operators: [] }
      out.filters[field].operators.push(operator)
    }
  }
  return out
}

/** Reads the document. */
export function readDocument(document) {
  schemas = document.components?.schemas ?? {}
  const paths = document.paths ?? {}
  const operation = (method, path) => paths[path]?.[method.toLowerCase()]
  const allowed = (method, path) => {
    const found = operation(method, path)
    return callers.includes(found?.['x-caller']) ? found : undefined
  }
  /** The operation that creates a record, also with the master key, which the admin can enter. */
  const creates = (path) => allowed('POST', path) ?? (operation('POST', path)?.['x-caller'] === 'master' ? operation('POST', path) : undefined)
  const resources = (document.tags ?? []).filter((tag) => tag['x-resource']).map((tag) => {
    const { name, path, record, title, parent, own } = tag['x-resource']
    const one = Object.keys(paths).find((other) => other.startsWith(`${path}/{`) && !other.slice(path.length + 2).includes('/'))
    const list = allowed('GET', path)
    const resource = {
      name, path, record, title, parent, own, one, list, label: humanize(name), recordLabel: humanize(record).toLowerCase(),
      create: creates(path), get: allowed('GET', one), change: allowed('PATCH', one), remove: allowed('DELETE', one),
      changes: allowed('GET', `${path}/changes`), pattern: new RegExp(`^${path.replace(/\{\w+\}/g, '[^/]+')}(?:/([^/]+))?$`), ...readList(list),
    }
    resource.fields = readFields(resource)
    resource.batch = Boolean(resource.change?.['x-batch'] ?? resource.remove?.['x-batch']) && Boolean(allowed('POST', '/batch'))
    resource.hasFile = (field) => Boolean(allowed('PUT', `${one}/${field.name}`) ?? allowed('POST', `${one}/${field.name}`))
    return resource
  })
  return { title: document.info?.title, resources, operation: allowed, schemaOf: bodyOf, byName: (name) => resources.find((resource) => resource.name === name) }
}

/** Returns the label of a record: its title, else a part of its ID. */
export function labelOf(resource, record) {
  const title = record?.[resource?.title] ?? resource?.fields.filter((field) => field.type === 'string' && field.name !== 'id').map((field) => record?.[field.name]).find(Boolean)
  return String(title || shortId(record?.id)).slice(0, 200)
}

export const shortId = (id) => (id && id.length > 12 ? `…${id.slice(-6)}` : id ?? '')

/** Returns the value of an empty field, for PATCH: null clears it. */
export const emptyValue = (schema) => (schema.nullable ? null : schema.type === 'array' ? [] : '')
