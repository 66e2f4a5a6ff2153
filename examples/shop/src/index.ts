export { createShop, type Shop, type ShopOptions } from './shop/shop.ts'
