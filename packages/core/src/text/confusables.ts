// Made by scripts/confusables.mjs from confusables.txt of Unicode 17.0.0 (UTS #39). © Unicode, Inc., licence: unicode-license.txt.

/** An ASCII letter or digit, and the letters of other scripts that look like it, group by group. */
export const OTHER_SCRIPTS =
  '2ϨᒿꙄꛯ 3ЗӠ३૩ⲜⳄⳌ𑣊𖼻𝈆 4Ꮞ𑢯 5𑢻 6ϬбᏮⳒⳓⳜ𑣕 7𐓒𑣆𝈒 8৪੪ଃ𐌚𞣋 9৭੧୨൭Ⳋⳋ𑢬𑣌𑣖 AΑАᎪᗅꓮ𐊠𖽀 BΒВᏴᗷⲂꓐ𐊂𐊡𐌁 CСᏟⲤꓚ𐊢𐌂𐐕𐔜𑣩𑣲 DᎠᗞᗪꓓ EΕЕᎬⴹꓰ𐊆𑢦𑢮 FϜᖴꓝ𐊇𐊥𐔥𑢢𑣂𝈓 GԌᏀᏳꓖ HΗНᎻᕼⲎꓧ𐋏 JͿЈᎫᒍꓙ KΚКᏦᛕⲔꓗ𐔘 LᏞᒪⳐꓡ𐐛𐔦𑢣𑢲𖼖𝈪 MΜϺМᎷᗰᛖⲘꓟ𐊰𐌑 NΝⲚꓠ𐔓 OΟОՕ߀ଠ೦ዐⲞⵔ〇ꓳ𐊒𐊫𐐄𐓂𐔖𑢵𑣠𑷠 PΡРᏢᑭⲢⳎꓑ𐊕 Qⵕ RᎡᏒᖇꓣ𐒴𖼵𝈖 SЅՏᏕᏚꓢ𐊖𐐠𖼺 TΤТᎢⲦꓔ𐊗𐊱𐌕𑢼𖼊 UՍሀᑌꓴ𐓎𑢸𖽂 VѴ٧۷Ꮩᐯⴸꓦꛟ𐔝𑢠𖼈𝈍 WԜᎳᏔꓪ𑣦𑣯 XΧХ᙭ᚷⲬⵝꓫ𐊐𐊴𐌗𐌢𐔧𑣬 YΥУҮᎩᎽⲨꓬ𐊲𑢤𖽃 ZΖᏃꓜ𐋵𑢩𑣥 aαа bЬᏏᑲᖯ𖺶 cсငၚⲥꮯ𐐽 dԁᏧᑯꓒ eеҽ fք gց hһհᏂ iιіւᎥⲓꙇꭵ𑣃 jϳј lΙІӀӏ׀וןا١۱ߊᛁⲒⵏꓲ𐊊𐌉𐌠𑷚𑷡𖺪𖼨𞣇 m𑜀𑣣 nոռ oοσϭоօסه٥ھہە۵०০੦૦୦௦ం౦ಂംഠ൦ං๐໐ဝ၀ჿ០ⲟ𐐬𐓪𑓐𑣈𑣗 pρϸрⲣⳏ qԛգզ rгᴦⲅꮁ sѕടꮪ𐑈𑣁 uυս𐓶𑣘 vνѵטꮩ𑜆𑣀 wшѡԝաⲽꮃ𑜊𑜎𑜏 xхᕁᕽ᙮ yγуүყⲩ𑣜 zꮓ𑣄'

/** The same for letters of the Latin script. */
export const SAME_SCRIPT = '2ƧꝚ 3ƷȜꝪꞫ 5Ƽ 8Ȣȣ 9Ꝯ BꞴ FꞘ JꞲ RƦ XꞳ aɑ bƄ cᴄ eꬲ fƒẝꞙꬵ gƍɡᶃ iıɩɪ lƖǀ oᴏᴑꬽ pþƿ rꭇꭈ sƽꜱ uʋᴜꞟꭎꭒ vᴠ wɯᴡ yɣʏᶌỿꭚ zᴢ'
