/**
 * Returns a PNG as WebP, both in base64, with its most frequent colours alone: that is as small as WebP with loss,
 * and letters stay sharp. Runs in a page.
 */
export async function paint({ png, colours }: { png: string; colours: number }): Promise<string> {
  const bitmap = await createImageBitmap(await (await fetch(`data:image/png;base64,${png}`)).blob())
  const canvas = new OffscreenCanvas(bitmap.width, bitmap.height)
  const context = canvas.getContext('2d')
  if (!context) throw new Error('this browser draws no pictures')
  context.drawImage(bitmap, 0, 0)
  const image = context.getImageData(0, 0, bitmap.width, bitmap.height)
  const pixels = new Uint32Array(image.data.buffer)
  const counts = new Map<number, number>()
  for (const pixel of pixels) counts.set(pixel, (counts.get(pixel) ?? 0) + 1)
  const byCount = [...counts].sort(([, one], [, other]) => other - one).map(([pixel]) => pixel)
  const palette = byCount.slice(0, colours)
  const channelsOf = (pixel: number) => [pixel & 255, (pixel >> 8) & 255, (pixel >> 16) & 255] as const
  const distance = (one: number, other: number) => {
    const [a, b] = [channelsOf(one), channelsOf(other)]
    return (a[0] - b[0]) ** 2 + (a[1] - b[1]) ** 2 + (a[2] - b[2]) ** 2
  }
  const nearest = new Map(
    byCount.map((pixel) => [pixel, palette.reduce((best, other) => (distance(pixel, other) < distance(pixel, best) ? other : best))]),
  )
  for (const [at, pixel] of pixels.entries()) pixels[at] = nearest.get(pixel) ?? pixel
  context.putImageData(image, 0, 0)
  const bytes = new Uint8Array(await (await canvas.convertToBlob({ type: 'image/webp', quality: 1 })).arrayBuffer())
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''))
}
