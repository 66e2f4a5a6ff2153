import { expect, test } from 'vitest'
import { importOptional, MissingPackage } from './optional-package.ts'

const notFound = (name: string) =>
  Object.assign(new Error(`Cannot find package '${name}' imported from /a.js`), { code: 'ERR_MODULE_NOT_FOUND' })

test('a missing package is named with the command that installs it', async () => {
  const failed = importOptional('@ai-sdk/openai', () => Promise.reject(notFound('@ai-sdk/openai')), 4)
  await expect(failed).rejects.toThrow(new MissingPackage('@ai-sdk/openai', { version: 4 }))
  await expect(failed).rejects.toThrow('needs the package @ai-sdk/openai: npm install @ai-sdk/openai@4')
})

test('a package that is installed but broken is not called missing', async () => {
  await expect(importOptional('@ai-sdk/openai', () => Promise.reject(notFound('zod')))).rejects.toThrow("Cannot find package 'zod'")
  await expect(importOptional('@ai-sdk/openai', () => Promise.reject(new SyntaxError('x')))).rejects.toThrow(SyntaxError)
})
