// Serves the pages in this directory, and the client in /client, for development: node serve.mjs [PORT]. PORT is 3000 by default; 0 selects
// a free one.
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { extname } from 'node:path'

const types = { '.html': 'text/html', '.css': 'text/css', '.mjs': 'text/javascript', '.js': 'text/javascript' }

const server = createServer(async (request, response) => {
  const { pathname } = new URL(request.url, 'http://localhost') // without ..
  const path = pathname.endsWith('/') ? `${pathname}index.html` : pathname
  const file = new URL(path.startsWith('/client/') ? `../../clients/typescript${path.slice(7)}` : `.${path}`, import.meta.url)
  const type = types[extname(file.pathname)]
  const body = type && await readFile(file).catch(() => null)
  if (!body) return response.writeHead(404).end()
  response.writeHead(200, { 'Content-Type': `${type}; charset=utf-8`, 'Cache-Control': 'no-cache', 'X-Frame-Options': 'DENY' }).end(body)
})
server.listen(Number(process.argv[2] ?? 3000), '127.0.0.1', () => {
  console.log(`Open http://localhost:${server.address().port}/sign-in/`)
})
