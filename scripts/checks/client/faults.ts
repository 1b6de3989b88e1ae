import { type IncomingMessage, type Server, type ServerResponse, createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'

/**
 * What happens to a request: the service receives it, and the response arrives (pass), is cut in its body, is lost or is slow; the service does
 * not receive it (cut, or a response of the proxy with the headers); or nothing happens (hang).
 */
export type Fault = 'pass' | 'slow' | 'cut in response' | 'lose response' | 'cut' | 'hang' | { status: number; headers?: Record<string, string>; body?: string }

/** A proxy before the service. The n-th request meets the n-th of faults, and the last one again. */
export interface Proxy {
  address: string
  faults: Fault[]
  /** Cuts all connections. */
  cut(): void
  /** The requests since the last call, such as POST /articles. */
  received(): { call: string; headers: IncomingMessage['headers'] }[]
}

/** Starts a proxy, calls job, and stops the proxy. */
export async function withProxy(upstream: string, job: (proxy: Proxy) => Promise<void>) {
  let requests: ReturnType<Proxy['received']> = []
  const server: Server = createServer((incoming, response) => {
    requests.push({ call: `${incoming.method} ${incoming.url}`, headers: incoming.headers })
    const fault = (proxy.faults.length > 1 ? proxy.faults.shift() : proxy.faults[0]) ?? 'pass'
    if (typeof fault === 'object') return respond(response, fault)
    if (fault === 'hang') return
    const chunks: Buffer[] = []
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
    incoming.on('end', () => (fault === 'cut' ? incoming.socket.destroy() : forward(upstream, incoming, Buffer.concat(chunks), response, fault)))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const proxy: Proxy = {
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    faults: ['pass'],
    cut: () => server.closeAllConnections(),
    received() {
      const out = requests
      requests = []
      return out
    },
  }
  try {
    await job(proxy)
  } finally {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
}

function respond(response: ServerResponse, { status, headers, body }: Exclude<Fault, string>) {
  response.writeHead(status, { 'Content-Type': 'text/html', ...headers }).end(body ?? '<h1>proxy</h1>')
}

/** Sends the request to the service, waits for its response, and sends that or a part of it. */
function forward(upstream: string, { method = '', url = '', headers }: IncomingMessage, body: Buffer, response: ServerResponse, fault: Fault) {
  const outgoing = request(upstream + url, { method, headers }, (answer) => {
    if (fault === 'slow') return void setTimeout(() => response.writeHead(answer.statusCode ?? 500, answer.headers) && answer.pipe(response), 300)
    if (fault === 'pass') {
      response.writeHead(answer.statusCode ?? 500, answer.headers)
      response.flushHeaders()
      answer.pipe(response)
      response.on('close', () => answer.destroy())
      return
    }
    const chunks: Buffer[] = []
    answer.on('data', (chunk: Buffer) => chunks.push(chunk))
    answer.on('end', () => {
      if (fault === 'lose response') return response.destroy()
      response.writeHead(answer.statusCode ?? 500, answer.headers)
      const whole = Buffer.concat(chunks)
      response.write(whole.subarray(0, whole.length / 2), () => response.destroy())
      return
    })
  })
  outgoing.end(body)
}
