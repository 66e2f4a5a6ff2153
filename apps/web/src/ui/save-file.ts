/** Saves a response under the file name that the server gives. The browser keeps large responses on disk, not in memory. */
export async function saveFile(response: Response): Promise<void> {
  const name = /filename="([^"]+)"/.exec(response.headers.get('content-disposition') ?? '')?.[1] ?? 'countersign-export'
  const url = URL.createObjectURL(await response.blob())
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  // The browser has begun to read it by then; revoked at once, some browsers save nothing.
  setTimeout(() => URL.revokeObjectURL(url), 60_000)
}
