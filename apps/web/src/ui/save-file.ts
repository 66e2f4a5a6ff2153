/** Saves a response under the file name that the server gives. The browser keeps large responses on disk, not in memory. */
export async function saveFile(response: Response): Promise<void> {
  const name = /filename="([^"]+)"/.exec(response.headers.get('content-disposition') ?? '')?.[1] ?? 'countersign-export'
  const url = URL.createObjectURL(await response.blob())
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  // Some browsers save nothing when the address is revoked before they have begun to read it.
  setTimeout(() => URL.revokeObjectURL(url), 60_000)
}
