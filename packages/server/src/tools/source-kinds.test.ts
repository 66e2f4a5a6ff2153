import type { GithubInput as TheirGithub } from '@countersign/tools-github'
import type { LinearInput as TheirLinear } from '@countersign/tools-linear'
import { expectTypeOf, test } from 'vitest'
import type { GithubInput, LinearInput } from './optional-settings.ts'

test('the settings of the optional packages are what those packages read', () => {
  expectTypeOf<GithubInput>().toEqualTypeOf<TheirGithub>()
  expectTypeOf<LinearInput>().toEqualTypeOf<TheirLinear>()
})
