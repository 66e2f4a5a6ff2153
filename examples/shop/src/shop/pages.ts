import { formatMoney } from '../money.ts'
import type { OrderStatus } from './database.ts'
import type { Effect } from './effects.ts'
import { type Html, html } from './html.ts'
import type { Order, OrderSummary } from './orders.ts'
import type { Product } from './products.ts'

const LOW_STOCK = 3

/** A whole page. `effectId` is the newest effect it shows; the live script refreshes the page when there is a newer one. */
export const layout = (title: string, effectId: number, main: Html): string =>
  String(html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} · Order desk</title>
<link rel="icon" href="/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="/style.css">
<script type="module" src="/live.js"></script>
</head>
<body data-effect="${effectId}">
<a class="skip" href="#content">Skip to content</a>
<header><a href="/">Order desk</a><p>A shop with real orders and real stock</p></header>
<main id="content">${main}</main>
<footer><p>Prices in euro, times in UTC. This page refreshes by itself.</p><p class="hidden" id="live" role="status"></p></footer>
</body>
</html>`)

export const homePage = (orders: { items: OrderSummary[]; total: number }, products: Product[]): Html => html`
<h1>Orders</h1>
<section aria-labelledby="orders">
<h2 id="orders">${countOrders(orders)}</h2>
<div class="scroll"><table>
<thead><tr><th scope="col">Order</th><th scope="col">Status</th><th scope="col">Customer</th><th scope="col" class="number wide">Items</th><th scope="col" class="number">Total</th><th scope="col" class="number wide">Placed</th></tr></thead>
<tbody>${orders.items.map(orderRow)}</tbody>
</table></div>
</section>
<section aria-labelledby="products">
<h2 id="products">Products and stock</h2>
<div class="scroll"><table>
<thead><tr><th scope="col">Product</th><th scope="col" class="number">Price</th><th scope="col" class="number">In stock</th></tr></thead>
<tbody>${products.map(productRow)}</tbody>
</table></div>
</section>`

export const orderPage = (order: Order, effects: readonly Effect[]): Html => html`
<h1>Order ${order.id}</h1>
<section aria-labelledby="facts">
<h2 id="facts" class="hidden">Facts</h2>
<dl>
<dt>Status</dt><dd data-key="status">${statusBadge(order.status)}</dd>
<dt>Customer</dt><dd>${order.customerName ?? html`<span class="quiet">No name</span>`}</dd>
<dt>Email</dt><dd>${order.customerEmail ?? html`<span class="quiet">No email</span>`}</dd>
<dt>Placed</dt><dd>${time(order.createdAt)}</dd>
<dt>Last change</dt><dd>${time(order.updatedAt)}</dd>
</dl>
</section>
<section aria-labelledby="lines">
<h2 id="lines">Lines</h2>
<div class="scroll"><table>
<thead><tr><th scope="col">Product</th><th scope="col" class="number">Quantity</th><th scope="col" class="number">Each</th><th scope="col" class="number">Total</th></tr></thead>
<tbody>${order.lines.map(
  (line) => html`<tr><th scope="row">${line.name}</th><td class="number">${line.quantity}</td>
<td class="number">${formatMoney(line.unitPriceCents)}</td><td class="number">${formatMoney(line.lineTotalCents)}</td></tr>`,
)}</tbody>
<tfoot><tr><th scope="row" colspan="3">Total</th><td class="number"><strong>${formatMoney(order.totalCents)}</strong></td></tr></tfoot>
</table></div>
</section>
<section aria-labelledby="history">
<h2 id="history">History</h2>
${
  effects.length === 0
    ? html`<p class="quiet">Nothing has changed since the shop opened.</p>`
    : html`<ol class="history">${effects.map(historyEntry)}</ol>`
}
</section>
<p><a href="/">All orders</a></p>`

export const notFoundPage = (message: string): Html => html`
<h1>Not found</h1>
<section><p>${message}</p><p><a href="/">All orders</a></p></section>`

const countOrders = ({ items, total }: { items: OrderSummary[]; total: number }): string =>
  items.length < total ? `The newest ${items.length} of ${total} orders` : `${total} orders, newest first`

const orderRow = (order: OrderSummary): Html => html`<tr data-key="${order.id}">
<th scope="row" class="nowrap"><a href="/orders/${encodeURIComponent(order.id)}">${order.id}</a></th>
<td>${statusBadge(order.status)}</td>
<td>${order.customerName ?? html`<span class="quiet">No name</span>`}</td>
<td class="number wide">${order.itemCount}</td>
<td class="number">${formatMoney(order.totalCents)}</td>
<td class="number wide">${time(order.createdAt)}</td>
</tr>`

const productRow = (product: Product): Html => html`<tr data-key="product ${product.id}">
<th scope="row">${product.name}<small class="quiet">${product.description}</small></th>
<td class="number">${formatMoney(product.priceCents)}</td>
<td class="number">${stock(product.stock)}</td>
</tr>`

const stock = (count: number): Html => {
  if (count === 0) return html`<span class="low">Sold out</span>`
  return count <= LOW_STOCK ? html`<span class="low">${count} left</span>` : html`${count}`
}

const statusBadge = (status: OrderStatus): Html => html`<span class="status" data-status="${status}">${status}</span>`

const time = (iso: string): Html => html`<time class="nowrap" datetime="${iso}">${iso.slice(0, 16).replace('T', ' ')}</time>`

const historyEntry = ({ id, at, before, after, idempotencyKey, kind }: Effect): Html => html`<li data-key="effect ${id}">
${time(at)} ${
  kind === 'order_placed'
    ? html`Order placed for ${formatMoney(after.totalCents ?? 0)}`
    : html`Status ${before.status ?? ''} → ${statusBadge(after.status ?? 'pending')}`
}${stockMoves(before.stock ?? {}, after.stock ?? {})}
<small class="quiet">Effect ${id}${idempotencyKey === null ? '' : html`, key <code>${idempotencyKey}</code>`}</small></li>`

const stockMoves = (before: Record<string, number>, after: Record<string, number>): Html =>
  html`${Object.entries(after).map(([productId, count]) => html`<small class="quiet">Stock of ${productId}: ${before[productId] ?? 0} → ${count}</small>`)}`
