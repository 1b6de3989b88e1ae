// Receives events of a webhook, and verifies them with the secret in WEBHOOK_SECRET. Run it by the guide: docs/webhooks.md.
import { createServer } from 'node:http'
import { Webhook } from 'standardwebhooks'

const webhook = new Webhook(process.env.WEBHOOK_SECRET)

const server = createServer(async (request, response) => {
  const chunks = []
  for await (const chunk of request) chunks.push(chunk)
  try {
    const event = webhook.verify(Buffer.concat(chunks), request.headers) // the body as it was sent, not parsed and encoded again
    console.log(event.type, JSON.stringify(event.data))
    response.writeHead(204).end()
  } catch (error) {
    console.log(error.message)
    response.writeHead(400).end()
  }
})
server.listen(process.env.PORT ?? 8080, '127.0.0.1', () => console.log(`Listening on http://127.0.0.1:${server.address().port}`))
process.once('SIGINT', () => process.exit())
