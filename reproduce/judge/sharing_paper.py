"""What stands in the tables of the sharing paper (Jatala, Anantpur, Karkare:
Scratchpad sharing in GPUs), typed from the paper, for the other files here."""

# Table II: bytes of scratchpad, blocks and threads of a core; cores of the GPU.
SCRATCHPAD, BLOCKS, THREADS, CORES = 16384, 16, 3072, 14
# Table VIII: Configuration-1 and Configuration-2.
LARGER = {"48k": (49152, 16, 2048), "64k": (65536, 32, 2048)}
# Section 8: the part of a block's scratchpad that stays its own, in percent.
OWN = 10

# Table I: bytes and threads of a block.
TABLE_1 = {
    "backprop": (9408, 256), "DCT1": (2112, 64), "DCT2": (2112, 64),
    "DCT3": (2176, 128), "DCT4": (2176, 128), "NQU": (10496, 64),
    "SRAD1": (13824, 576), "SRAD2": (11520, 576), "FDTD3d": (3840, 128),
    "heartwall": (11872, 128), "histogram": (9216, 192), "MC1": (9216, 32),
    "NW1": (8452, 32), "NW2": (8452, 32),
}
# Table VII: what is new there.
TABLE_7 = {
    "DCT1-large": (8320, 128), "DCT2-large": (8320, 128), "MC2": (13824, 48),
    "kmeans": (4608, 576), "lud": (3872, 484),
}
# Table IX.
TABLE_9 = {
    "CV": (8256, 128), "FFT": (8704, 64), "HG": (7168, 32), "MC": (9216, 32),
    "MV": (4224, 32), "SP": (4114, 64),
}

# Table VI: threads; instructions of Unshared-LRR and of Shared-OWF-OPT.
TABLE_6 = {
    "backprop": (1048576, 131203072, 133234688),
    "DCT1": (32768, 9371648, 9404416), "DCT2": (32768, 9502720, 9535488),
    "DCT3": (32768, 11255808, 11304960), "DCT4": (32768, 11157504, 11206656),
    "NQU": (24576, 1282747, 1331515),
    "SRAD1": (4161600, 756433955, 760595555),
    "SRAD2": (4161600, 450077975, 454239575),
    "FDTD3d": (144384, 5549531392, 5549820160),
    "heartwall": (17920, 11280920, 11316760),
    "histogram": (46080, 893769168, 893861328),
    "MC1": (3008, 2881568, 2887584), "NW1": (3184, 5580458, 5583642),
    "NW2": (3168, 5561919, 5565087),
}
# Table XIII: IPC of Unshared with LRR, GTO and 2Level, and of Shared-OWF-OPT.
TABLE_13 = {
    "backprop": (178.01, 179.78, 178.38, 310.1),
    "DCT1": (284.48, 289.39, 281.54, 322.28),
    "DCT2": (283.84, 287.16, 288.42, 325.83),
    "DCT3": (358.11, 373.21, 384.3, 423.12),
    "DCT4": (381.23, 402.4, 406.12, 436.2),
    "NQU": (35.77, 35.77, 35.76, 37.46),
    "SRAD1": (199.18, 200.58, 199.23, 227.74),
    "SRAD2": (67.19, 67.39, 66.98, 76.18),
    "FDTD3d": (330.52, 331.96, 328.95, 322.94),
    "heartwall": (104.92, 104.92, 105.05, 201.62),
    "histogram": (153.46, 153.38, 151.56, 153.19),
    "MC1": (44.43, 44.57, 44.15, 58.79), "NW1": (25.34, 25.34, 25.26, 25.94),
    "NW2": (25.4, 25.4, 25.32, 27.51),
}
