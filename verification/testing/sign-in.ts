/** The part of a sign-in link that signs somebody in. */
export const tokenOf = (link: string): string => link.slice(link.indexOf('#sign-in=') + '#sign-in='.length)

/**
 * Sends a sign-in as a page of the console at `url` does. The connection is not kept: between two sign-ins a test may start a program, and the
 * server closes a kept one meanwhile.
 */
export const sendSignIn = (
  url: string,
  body: { link: string } | { key: string },
  headers: Record<string, string> = {},
): Promise<Response> =>
  fetch(`${url}/api/sign-in`, {
    method: 'POST',
    headers: { connection: 'close', origin: url, 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })

/**
 * Signs in over plain http; what proves it afterwards, as headers.
 * @throws Error unless that succeeds.
 */
async function signIn(url: string, body: { link: string } | { key: string }): Promise<{ 'countersign-console': string }> {
  const answer = await sendSignIn(url, body)
  const secret = answer.headers.get('countersign-console')
  if (!answer.ok || secret === null) throw new Error(`the sign-in was answered ${answer.status}: ${await answer.text()}`)
  await answer.body?.cancel()
  return { 'countersign-console': secret }
}

/** Signs in with a key. */
export const signInWithKey = (url: string, key: string): Promise<{ 'countersign-console': string }> => signIn(url, { key })

/** Signs in with a link, wherever it leads. */
export const signInWithLink = (link: string): Promise<{ 'countersign-console': string }> =>
  signIn(new URL(link).origin, { link: tokenOf(link) })

/** Signs the person at this machine in, with a link that is made for it. */
export const signInLocally = (server: { url: string; signInLink(): string }): Promise<{ 'countersign-console': string }> =>
  signIn(server.url, { link: tokenOf(server.signInLink()) })

/** Signs in as the console does, wherever the link leads; answers the status, and who came in. */
export async function redeem(link: string): Promise<{ status: number; detail: string; person: string | undefined }> {
  const answer = await sendSignIn(new URL(link).origin, { link: tokenOf(link) })
  const { detail, principal } = await answer.json()
  return { status: answer.status, detail, person: principal?.id }
}
