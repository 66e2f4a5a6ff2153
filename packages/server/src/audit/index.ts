export { append, appendToScope, recordAudit } from './record.ts'
export { type AuditEntry, CHAIN_START, type ChainEnd, SYSTEM, sha256 } from './row.ts'
