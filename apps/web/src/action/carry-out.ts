// A module of its own, loaded when it is needed: most people never carry anything out in their browser.
export { carryOut } from '@countersign/client'
