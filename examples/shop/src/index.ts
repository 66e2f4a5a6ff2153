export { type Brain, type BrainOptions, createBrain } from './brain/brain.ts'
export { createShop, type Shop, type ShopOptions } from './shop/shop.ts'
