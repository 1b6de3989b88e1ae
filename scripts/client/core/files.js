
/** Returns a fetch that reports the progress of the upload. XMLHttpRequest follows redirects, but its last address shows them. */
function uploader(onProgress) {
  return async (url, { method, headers, body, signal }) => {
    const request = new XMLHttpRequest()
    const abort = () => request.abort()
    request.open(method, url)
    for (const [name, value] of headers) request.setRequestHeader(name, value)
    request.upload.onprogress = ({ loaded, total }) => onProgress({ loaded, total })
    const ended = new Promise((resolve) => { request.onloadend = resolve })
    signal?.addEventListener('abort', abort)
    request.send(body)
    await ended
    signal?.removeEventListener('abort', abort)
    const { status, responseURL, response } = request
    if (!status) throw new TypeError('the connection was cut') // or aborted
    const lines = request.getAllResponseHeaders().match(/^.+: .*$/gm) ?? []
    const out = new Response(status === 204 ? null : response, { status, headers: lines.map((line) => line.split(/: (.*)/s, 2)) })
    return responseURL === new URL(url, location.href).href ? out : { type: 'opaqueredirect', headers: out.headers }
  }
}

/** Returns the properties of a resource for its fields with files. send makes a request; address returns the URL of a path. */
function fileFields({ path, files = {} }, ids, send, address) {
  const fields = Object.entries(files).map(([name, { list }]) => {
    const all = `${path}/{}/${name}`
    const one = list ? `${all}/{}` : all
    const upload = async (target, blob, options) => {
      const rest = { query: { filename: blob.name }, blob, etag: target?.etag, safe: !list }
      return send(list ? 'POST' : 'PUT', all, [...ids, target], { ...options, ...rest })
    }
    // The last argument is the options; a list has the file before it.
    const split = (args) => [[...ids, ...args.slice(0, list ? 2 : 1)], args[list ? 2 : 1]]
    return [name, {
      upload,
      link(...args) {
        const [path, { expiresIn, signal } = {}] = split(args)
        return send('POST', `${one}/link`, path, { body: { expiresIn }, signal })
      },
      delete(...args) {
        const [path, options] = split(args)
        return send('DELETE', one, path, { ...options, etag: args[0]?.etag })
      },
      url: (...args) => address(fill(one, split(args)[0])),
    }]
  })
  return Object.fromEntries(fields)
}
