// The health check of the image, without curl: exit code 0 when the server is ready.
const port = process.env.COUNTERSIGN_PORT || 4319

try {
  const answer = await fetch(`http://127.0.0.1:${port}/readyz`, { signal: AbortSignal.timeout(3_000) })
  if (!answer.ok) console.error(`not ready: ${answer.status} ${await answer.text()}`)
  process.exitCode = answer.ok ? 0 : 1
} catch (error) {
  console.error(`not ready: ${error.cause?.code ?? error.message}`)
  process.exitCode = 1
}
