import { matchesGlob } from '@countersign/core'

/**
 * Names of files that usually hold secrets, those of this server among them: reading one is more than a look at the project. `process.env`
 * and `import.meta.env` are expressions that people search for.
 */
const SENSITIVE = new RegExp(
  `^(${[
    String.raw`\.countersign|countersign\.db.*|sign-in-\d+\.json`,
    String.raw`\.env(\..*)?|\.envrc|(?!(process|import\.meta)\.env$).*\.env|\.dev\.vars`,
    String.raw`[._]netrc|\.git-credentials|\.npmrc|\.pypirc|\.gem|\.dockercfg|\.htpasswd`,
    String.raw`\.?pgpass(\.conf)?|\.my\.cnf|\.mylogin\.cnf`,
    String.raw`\.ssh|\.aws|\.azure|\.gnupg|\.kube|kubeconfig|\.boto|\.s3cfg|\.vault-token|\.password-store`,
    String.raw`\.?credentials\.(json|toml|ya?ml)|application_default_credentials\.json|client_secret.*\.json|service[-_]account.*\.json`,
    String.raw`secrets\.(json|toml|ya?ml)`,
    String.raw`.*\.tfstate(\..*)?|.*\.tfvars(\.json)?|\.terraformrc|terraform\.rc|\.terraform\.d`,
    String.raw`id_(rsa|dsa|ed25519|ecdsa)(_sk)?|.*\.(pem|key|p12|pfx|ppk|jks|keystore|kdbx)`,
  ].join('|')})$`,
  'is',
)

/**
 * True for a path with such a name in it, also behind a revision of git (`HEAD:.env`), and for a pattern that is for such names: `.env*`,
 * `*.pem`. A pattern that also fits other files, such as `*`, is no such pattern. Each name is read by itself: a pattern over the whole path
 * takes the square of its length.
 */
export const isSensitive = (path: string): boolean =>
  path.split(/[/:]/).some((name) => SENSITIVE.test(name)) ||
  (path.length <= MAX_PATTERN && /[*?[{]/.test(path) && withoutBraces(path).some((one) => one.split(/[/:]/).some(isForSecrets)))

/** Longer texts are no patterns for files. */
const MAX_PATTERN = 1_000
const MAX_ALTERNATIVES = 64

/** Returns the alternatives of a pattern: `.env` and `.npmrc` of `{.env,.npmrc}`. Of very many, the first. */
function withoutBraces(pattern: string): string[] {
  const done: string[] = []
  const open = [pattern]
  for (let one = open.pop(); one !== undefined && done.length < MAX_ALTERNATIVES; one = open.pop()) {
    const group = /\{([^{}]*)\}/.exec(one)
    if (group) for (const part of (group[1] ?? '').split(',').reverse()) open.push(one.replace(group[0], () => part))
    else done.push(one)
  }
  return done
}

/** Names that a pattern may be for in part: `.e*`, `id_*`. What {@link OTHER_NAMES} has is in reach of patterns for anything. */
const SECRET_NAMES = [
  ...[
    '.env',
    '.envrc',
    '.dev.vars',
    '.netrc',
    '.git-credentials',
    '.npmrc',
    '.pypirc',
    '.htpasswd',
    '.pgpass',
    '.ssh',
    '.aws',
    '.gnupg',
    '.kube',
  ],
  ...['kubeconfig', '.countersign', 'countersign.db', 'credentials.json', 'client_secret.json', 'service-account.json', 'secrets.yaml'],
  ...['id_rsa', 'id_ed25519'],
]
const OTHER_NAMES = ['index.ts', 'main.py', 'package.json', 'config.yaml', 'service.ts', 'client.ts', 'README.md']

function isForSecrets(pattern: string): boolean {
  // One character, or one of several, is taken for any number of them.
  const glob = pattern.toLowerCase().replaceAll(/\[[^\][]*\]|\?/g, '*')
  if (SENSITIVE.test(glob.replaceAll('*', '')) || SENSITIVE.test(glob.replaceAll(/\*+/g, '-'))) return true
  const isFor = (name: string) => matchesGlob(glob, name)
  return /[^*]{2}/.test(glob) && SECRET_NAMES.some(isFor) && !OTHER_NAMES.some((name) => isFor(name.toLowerCase()))
}
