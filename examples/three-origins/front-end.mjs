// Serves the page, and tells it where Countersign is. A real front end is a folder of files at any host.
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'

const { COUNTERSIGN_URL = 'http://127.0.0.1:4319', FRONT_END_PORT = '4450' } = process.env
const files = {
  '/': ['text/html; charset=utf-8', readFileSync(new URL('page/index.html', import.meta.url))],
  '/page.js': ['text/javascript; charset=utf-8', readFileSync(new URL('page/page.js', import.meta.url))],
  '/where.json': ['application/json', JSON.stringify({ countersign: COUNTERSIGN_URL })],
}

const server = createServer(({ url }, response) => {
  const [type, content] = files[url] ?? []
  if (!type) return response.writeHead(404).end()
  response.writeHead(200, { 'content-type': type }).end(content)
})
server.listen(Number(FRONT_END_PORT), '127.0.0.1', () => console.log(`The front end is at http://127.0.0.1:${server.address().port}`))
