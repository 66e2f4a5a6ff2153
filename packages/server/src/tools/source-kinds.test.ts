import type { GithubInput as TheirGithub } from '@countersign/tools-github'
import type { LinearInput as TheirLinear } from '@countersign/tools-linear'
import { expect, expectTypeOf, test } from 'vitest'
import type { GithubInput, LinearInput } from './optional-settings.ts'
import { MissingPackage } from './source-kinds.ts'

test('the settings of the optional packages are what those packages read', () => {
  expectTypeOf<GithubInput>().toEqualTypeOf<TheirGithub>()
  expectTypeOf<LinearInput>().toEqualTypeOf<TheirLinear>()
})

test('a missing package is named with the command that installs it', () => {
  const error = new MissingPackage('@countersign/tools-github', {})
  expect(error.message).toBe('needs the package @countersign/tools-github: npm install @countersign/tools-github')
})
