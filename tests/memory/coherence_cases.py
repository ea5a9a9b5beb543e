"""Sessions in three languages for the tests; none of them made the profile."""

from __future__ import annotations

SHIFTS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "en code to cooking": (
        (
            "Write a script that converts our Markdown docs to PDF",
            "Use pandoc if possible",
            "The table of contents should have page numbers",
            "Images come out too large",
        ),
        (
            "What should I cook for dinner tonight? I have chicken and rice",
            "Can I use yoghurt in the sauce?",
            "How long does it stay in the oven?",
        ),
    ),
    "en code to other code": (
        (
            "Debug why our login endpoint returns 401 for valid users",
            "The token seems to expire immediately",
            "Check the clock of the server",
            "Add a log line with the expiry time",
        ),
        (
            "Now help me set up a CI pipeline for the mobile app",
            "It should build on every pull request",
            "Cache the gradle dependencies",
        ),
    ),
    "en report to party": (
        (
            "Summarize the quarterly report for the board",
            "Focus on revenue and churn",
            "Keep it to one page",
            "Mention the new office in Dublin",
        ),
        (
            "Help me plan a surprise party for my wife",
            "She likes Italian food",
            "Around twenty guests",
        ),
    ),
    "zh code to travel": (
        (
            "把用户登录模块改成单点登录",
            "用 OAuth2 协议",
            "令牌过期时间设多久",
            "旧的会话怎么兼容",
        ),
        ("国庆节想去西安玩", "兵马俑要预约吗", "住在哪里方便"),
    ),
    "zh operations to a letter": (
        ("排查线上接口超时的问题", "先看慢查询日志", "是不是连接池满了", "加一个索引试试"),
        ("帮我写一封辞职信", "语气要委婉", "最后工作日是月底"),
    ),
    "id code to travel": (
        (
            "Perbaiki halaman login yang selalu kembali ke awal",
            "Sesi pengguna hilang",
            "Periksa pengaturan cookie",
            "Tambahkan log di server",
        ),
        (
            "Saya mau liburan ke Yogyakarta",
            "Candi apa saja yang bagus?",
            "Menginap di mana yang murah?",
        ),
    ),
    "id data to sport": (
        (
            "Analisis data penjualan toko saya di Excel",
            "Kelompokkan per bulan",
            "Buat grafik garis",
            "Produk mana yang paling laku?",
        ),
        ("Saya ingin mulai lari pagi", "Berapa menit untuk pemula?", "Sepatu apa yang bagus?"),
    ),
}

STEADY: dict[str, tuple[str, ...]] = {
    "en remark": (
        "Write a script that converts our Markdown docs to PDF",
        "Use pandoc if possible",
        "Nice weather today",
        "The table of contents should have page numbers",
        "Images come out too large",
        "now fix it",
    ),
    "en remark at the end": (
        "Summarize the quarterly report for the board",
        "Focus on revenue and churn",
        "Keep it to one page",
        "actually, use the figures of the second version",
        "Mention the new office in Dublin",
        "I'm hungry",
    ),
    "en follow-ups": (
        "Implement a rate limiter in Go",
        "Token bucket or sliding window?",
        "It must be safe for concurrent use",
        "Write a benchmark",
        "now fix it",
        "go on",
        "why?",
        "looks good",
    ),
    "en refinements": (
        "Refactor the billing module so that invoices are generated asynchronously",
        "Put the jobs on a queue",
        "How do we retry failed jobs?",
        "use Redis instead",
        "make it shorter",
        "use the test database instead",
        "Add tests for the retry logic",
        "What about monitoring?",
    ),
    "zh remark": (
        "帮我写一个批量压缩图片的脚本",
        "支持 PNG 和 JPG",
        "今天天气真好",
        "压缩质量可以设置",
        "保留原来的文件名",
        "继续",
        "写一下使用说明",
    ),
    "zh refinements": (
        "把用户登录模块改成单点登录",
        "用 OAuth2 协议",
        "改成测试库",
        "令牌过期时间设多久",
        "短一点",
        "旧的会话怎么兼容",
        "写单元测试",
        "好的",
    ),
    "id remark": (
        "Buat skrip untuk mengganti nama file foto secara massal",
        "Pakai tanggal pengambilan foto",
        "Cuaca hari ini cerah",
        "Kalau ada nama yang sama beri nomor",
        "Jangan ubah file aslinya",
        "lanjutkan",
    ),
    "id follow-ups": (
        "Rancang basis data untuk aplikasi klinik",
        "Pasien bisa punya beberapa dokter",
        "Simpan riwayat obat",
        "Buat contoh kuerinya",
        "lanjutkan",
        "sekarang perbaiki",
        "kenapa?",
        "bagus",
    ),
}
