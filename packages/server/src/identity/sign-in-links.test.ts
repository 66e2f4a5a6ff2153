import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createSignInLinks, LINK_GOOD_MS, mintLinkToken } from './sign-in-links.ts'

function openLinks() {
  const clock = { nowMs: 1_800_000_000_000 }
  const links = createSignInLinks(() => clock.nowMs)
  return { clock, links, mint: () => mintLinkToken(links.secret, clock.nowMs) }
}

test('a sign-in link is good once, and is said to be used afterwards, also by a clock that is set back', () => {
  const { clock, links, mint } = openLinks()
  const [one, two] = [mint(), mint()]
  expect(links.redeem(one)).toBeUndefined()
  expect(links.redeem(one)).toBe('used')
  expect(links.redeem(two)).toBeUndefined()
  clock.nowMs += LINK_GOOD_MS + 1
  expect(links.redeem(one)).toBe('used')
  expect(links.redeem(mint())).toBeUndefined()
  clock.nowMs += 2 * LINK_GOOD_MS
  expect(links.redeem(mint())).toBeUndefined()
  clock.nowMs -= 3 * LINK_GOOD_MS
  expect(links.redeem(one)).toBe('used')
})

test('a clock that was far ahead for a moment locks nobody out, and gives no link that was refused meanwhile a second chance', () => {
  const { clock, links, mint } = openLinks()
  const [early, other] = [mint(), mint()]
  clock.nowMs += 365 * 86_400_000
  expect(links.redeem(early)).toBe('expired')
  const ahead = mint()
  clock.nowMs -= 365 * 86_400_000
  expect(links.redeem(early)).toBe('expired')
  expect(links.redeem(ahead)).toBe('expired')
  expect(links.redeem(other)).toBeUndefined()
  expect(links.redeem(mint())).toBeUndefined()
})

test('a sign-in link ends after ten minutes, and one from the far future is none', () => {
  const { clock, links, mint } = openLinks()
  const [last, late] = [mint(), mint()]
  clock.nowMs += 10 * 60_000 - 1
  expect(links.redeem(last)).toBeUndefined()
  clock.nowMs += 1
  expect(links.redeem(late)).toBe('expired')
  expect(links.redeem(mintLinkToken(links.secret, clock.nowMs + 2 * LINK_GOOD_MS))).toBe('expired')
})

test('a sign-in link of another server, of an earlier start, or changed in any letter signs nobody in', () => {
  const { clock, links, mint } = openLinks()
  expect(links.redeem(mintLinkToken(openLinks().links.secret, clock.nowMs))).toBe('unknown')
  const token = mint()
  expect(token).toMatch(/^[\w-]{72}$/)
  const letter = fc.constantFrom(...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_')
  fc.assert(
    fc.property(fc.nat(71), letter, (at, other) => {
      fc.pre(other !== token[at])
      expect(links.redeem(token.slice(0, at) + other + token.slice(at + 1))).toBe('unknown')
    }),
  )
  fc.assert(
    fc.property(fc.string(), (text) => {
      expect(links.redeem(text)).toBe('unknown')
    }),
  )
  for (const wrong of ['', `${token}A`, `${token}=`, token.slice(1), ` ${token}`, links.secret]) expect(links.redeem(wrong)).toBe('unknown')
  expect(links.redeem(token)).toBeUndefined()
})
