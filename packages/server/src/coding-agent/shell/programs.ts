/**
 * Programs that only print what they read, whatever their options. `printf -v` and `test -v` are why those two are not here: they set a
 * variable, and run what its index contains.
 */
export const READERS = new Set(
  'basename cat cmp cut diff dirname du echo false grep head ls nl od pwd realpath stat tail true tr wc whoami'.split(' '),
)

/** Subcommands of git that only read, with these options alone: others write a file or run a program. */
export const GIT_READERS = new Set(['status', 'log', 'diff', 'show', 'blame', 'ls-files', 'rev-parse'])
export const GIT_READ_OPTION =
  /^(-\d+|-n\d*|-s|-b|-p|--|--stat|--oneline|--short|--cached|--staged|--name-only|--name-status|--graph|--porcelain|--abbrev-ref|--show-toplevel)$/

/** Programs that run the program in their arguments. */
export const WRAPPERS = new Set('builtin command doas env exec ionice nice nohup setsid stdbuf sudo time timeout xargs'.split(' '))

/** Programs that run with more rights than their caller, or give them away. */
export const PRIVILEGED = new Set('chgrp chmod chown doas passwd setfacl su sudo visudo'.split(' '))

export const DELETERS = new Set('dd fdisk mkfs rm rmdir shred truncate unlink wipefs'.split(' '))

/** Subcommands that delete or overwrite work. */
export const DELETING_SUBCOMMANDS: Readonly<Record<string, readonly string[]>> = {
  git: ['clean', 'reset', 'checkout', 'restore', 'rebase', 'filter-branch', 'gc', 'update-ref', 'rm'],
  docker: ['rm', 'rmi', 'prune', 'system', 'volume'],
  podman: ['rm', 'rmi', 'prune', 'system', 'volume'],
  kubectl: ['delete', 'drain', 'replace'],
  terraform: ['destroy', 'apply'],
  helm: ['uninstall', 'delete'],
}

export const NETWORK = new Set(
  'aws az curl dig ftp gcloud gh helm host kubectl nc ncat netcat nslookup ping rsync scp sftp socat ssh telnet terraform wget'.split(' '),
)

/** Subcommands that reach the network. */
export const NETWORK_SUBCOMMANDS: Readonly<Record<string, readonly string[]>> = {
  git: ['clone', 'fetch', 'ls-remote', 'pull', 'push', 'remote', 'submodule'],
  npm: ['add', 'audit', 'ci', 'exec', 'i', 'install', 'publish', 'update', 'view'],
  pnpm: ['add', 'dlx', 'i', 'install', 'publish', 'update'],
  yarn: ['add', 'dlx', 'install', 'publish', 'upgrade'],
  bun: ['add', 'install', 'publish', 'update', 'x'],
  pip: ['download', 'install'],
  pip3: ['download', 'install'],
  uv: ['add', 'pip', 'sync', 'tool'],
  cargo: ['add', 'fetch', 'install', 'publish', 'search', 'update'],
  go: ['get', 'install', 'mod'],
  gem: ['install', 'push'],
  apt: ['install', 'update', 'upgrade'],
  'apt-get': ['install', 'update', 'upgrade'],
  brew: ['install', 'update', 'upgrade'],
  docker: ['build', 'login', 'pull', 'push', 'run'],
  podman: ['build', 'login', 'pull', 'push', 'run'],
}

/** `npx` and the like download what they run. */
export const RUNS_DOWNLOADS = new Set(['bunx', 'npx', 'pipx', 'pnpx', 'uvx'])

/** Shells: a command in `-c` is read like any other, everything else that they run is not shown. */
export const SHELLS = new Set(['ash', 'bash', 'dash', 'fish', 'ksh', 'sh', 'zsh'])

/** The option with which an interpreter takes its program from the command line. */
export const INLINE_CODE: Readonly<Record<string, RegExp>> = {
  awk: /./,
  gawk: /./,
  node: /^(-[ep]|--eval|--print)/,
  deno: /^eval$/,
  bun: /^(-[ep]|--eval|--print)/,
  perl: /^-\w*[eE]/,
  php: /^-[rBRE]/,
  python: /^-\w*c/,
  python3: /^-\w*c/,
  ruby: /^-\w*e/,
  osascript: /^-e/,
}

/** Variables that decide what a name runs, or run something themselves. */
export const DECIDING_VARIABLE =
  /^(HOME|XDG_.*|PATH|IFS|ENV|BASH_ENV|SHELL|PROMPT_COMMAND|PAGER|EDITOR|VISUAL|LD_.*|DYLD_.*|GIT_.*|NODE_OPTIONS|PYTHON.*|PERL5?.*|RUBY.*)$/
