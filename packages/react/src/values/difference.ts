/**
 * The exact difference of two numbers with its sign, from the digits that the card shows: that of 0.1 and 0.3 is `+0.2`. Undefined where one
 * of them is shown with an exponent.
 */
export function differenceOf(oldValue: number, newValue: number): string | undefined {
  const texts = [oldValue, newValue].map(String)
  if (texts.some((text) => text.includes('e'))) return undefined
  const places = Math.max(...texts.map((text) => text.split('.')[1]?.length ?? 0))
  const [was = 0n, is = 0n] = texts.map((text) => {
    const [whole = '', fraction = ''] = text.split('.')
    return BigInt(whole + fraction.padEnd(places, '0'))
  })
  const [sign, by] = is < was ? ['-', was - is] : ['+', is - was]
  const digits = `${by}`.padStart(places + 1, '0')
  const whole = digits.slice(0, digits.length - places)
  return sign + `${whole}.${digits.slice(whole.length)}`.replace(/\.?0*$/, '')
}
