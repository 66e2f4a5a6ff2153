import type { Network } from '@countersign/toolkit'
import type { CacheTime } from './prompt-cache.ts'

/** Where a provider is and how we sign in there. */
export interface ProviderSettings {
  /** Without a trailing slash, with the version: `https://api.openai.com/v1`. */
  baseUrl?: string | undefined
  apiKey?: string | undefined
}

/** What `openModel` needs besides the model's name: plain data, read from the environment by the configuration. */
export interface ModelSettings {
  openai?: ProviderSettings | undefined
  anthropic?: ProviderSettings | undefined
  google?: ProviderSettings | undefined
  /** `pictures`: the model takes pictures in messages. Default false. */
  openaiCompatible?: (ProviderSettings & { pictures?: boolean | undefined }) | undefined
  /** Headers sent to the remote brain that is opened, for example `authorization`. */
  remote?: { headers?: Record<string, string> | undefined } | undefined
  /** Texts that no model may bring in here. Default: the keys and headers of these settings. */
  secrets?: readonly string[] | undefined
  /** Where requests go through. Default: one that allows nothing private besides the addresses written here. */
  network?: Network | undefined
  /** The longest silence we bear: until the answer begins, and between two chunks of it. Default 300_000. */
  timeoutMs?: number | undefined
  /** How long the provider is asked to keep what it read of a conversation. Default `5m`. */
  cache?: CacheTime | undefined
  /** Where a relative `scripted/<file>` is looked for. Default: the working directory. */
  scriptDirectory?: string | undefined
}

/** Reasoning models may think for minutes without a byte on the wire. */
export const DEFAULT_TIMEOUT_MS = 300_000

export const DEFAULT_CACHE: CacheTime = '5m'

/** The secrets that models are sent. */
export const modelSecrets = ({ openai, anthropic, google, openaiCompatible, remote }: ModelSettings): string[] => [
  ...[openai, anthropic, google, openaiCompatible].flatMap((provider) => provider?.apiKey ?? []),
  ...Object.values(remote?.headers ?? {}),
]
